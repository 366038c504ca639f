/** A gateway that keeps whole results and single fetches: a client that has changed something gets no result with an older part. */
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { readMetric, request, until } from '../../stack/clients/client.ts';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';
import { LAMPS, state } from './lamps.ts';

const [ADA, BOB] = [{ authorization: 'Basic YWRh' }, { authorization: 'Basic Ym9i' }];

let federation: Federation;
beforeAll(async () => {
  const env = { RESPONSE_CACHE: 'memory', RESPONSE_CACHE_CONTENTS: 'both', RESPONSE_CACHE_SHARING: 'all' };
  federation = await startFederation(LAMPS, { env });
});
afterAll(() => federation.stop());
afterEach(() => {
  federation.intercept = undefined;
});

const ask = (query: string, headers: Record<string, string>) => request(federation.url, { method: 'POST', body: { query }, headers });

/** Keeps the fetch of the lamp's name for all clients, and lets Bob change it afterwards. */
async function keepAndChange(query: string): Promise<void> {
  state.name = 'old';
  await ask('mutation { rename(name: "old") { id } }', ADA);
  await ask(query, ADA);
  await ask('mutation { touch(name: "new") }', BOB);
}

it('does not send it the result that another client got with a part that was kept before the change', async () => {
  await keepAndChange('query First { lamp { name } }');
  const query = 'query Second { lamp { name } }';
  expect((await ask(query, ADA)).text).toContain('old');
  expect((await ask(query, BOB)).text).toContain('new');
});

it('does not let it wait for such a result', async () => {
  await keepAndChange('query Third { lamp { id name } }');
  let open = (): void => undefined;
  const gate = new Promise<undefined>((resolve) => {
    open = () => {
      resolve(undefined);
    };
  });
  const pricesOf = () => federation.received.filter(({ subgraph }) => subgraph === 'prices').length;
  const misses = () => readMetric(federation.gateway.url, 'trestle_response_cache_queries_total{outcome="miss"}');
  const [before, missed] = [pricesOf(), await misses()];
  federation.intercept = ({ subgraph }) => (subgraph === 'prices' ? gate : undefined);
  const query = 'query Fourth { lamp { id name price } }';
  const first = ask(query, ADA);
  await until(() => Promise.resolve(pricesOf() === before + 1));
  const second = ask(query, BOB);
  await until(async () => (await misses()) === missed + 2);
  open();
  expect((await first).text).toContain('old');
  expect((await second).text).toContain('new');
});
