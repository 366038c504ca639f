/** `traffic.deduplicate`: a real gateway sends equal queries of one caller that are in flight to a subgraph once. */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { until } from '../../stack/clients/client.ts';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';

const QUERY = '{ stock }';
let stock = 3;
let federation: Federation;
beforeAll(async () => {
  federation = await startFederation(
    {
      stock: {
        sdl: 'type Query { stock: Int } type Mutation { sell: Int }',
        resolvers: { Query: { stock: () => stock }, Mutation: { sell: () => --stock } },
      },
    },
    { env: { UPSTREAM_DEDUPLICATION: 'on' } },
  );
});
afterAll(() => federation.stop());

/** Holds the queries that the subgraph gets until the function that is returned is called. */
function holdQueries(): () => void {
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  federation.received.length = 0;
  federation.intercept = async ({ query }) => {
    if (!query.startsWith('mutation')) await released;
  };
  return release;
}
const readMetrics = async () => (await fetch(`${federation.gateway.url}/metrics`)).text();
const ask = (token: string, query = QUERY) => federation.ask(query, undefined, { authorization: `Bearer ${token}` });

it('sends queries of one caller that are in flight together once, and those of another caller by themselves', async () => {
  const release = holdQueries();
  const replies = [ask('a'), ask('b')];
  await until(() => Promise.resolve(federation.received.length === 2));
  for (let n = 0; n < 4; n++) replies.push(ask('a'));
  await until(async () => (await readMetrics()).includes('trestle_subgraph_requests_shared_total{subgraph="stock"} 4'));
  release();
  for (const { body } of await Promise.all(replies)) expect(body).toEqual({ data: { stock: 3 } });
  expect(federation.received).toHaveLength(2);
});

it('sends a query again after a mutation, whose result an older response does not have', async () => {
  const release = holdQueries();
  const older = ask('a');
  await until(() => Promise.resolve(federation.received.length === 1));
  expect((await ask('a', 'mutation { sell }')).body).toEqual({ data: { sell: 2 } });
  const newer = ask('a');
  await until(() => Promise.resolve(federation.received.length === 3));
  release();
  expect((await newer).body).toEqual({ data: { stock: 2 } });
  await older;
});
