/** `traffic.deduplicateOperations`: a real gateway executes equal queries of one caller that are in flight once. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { request, until } from '../../stack/clients/client.ts';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';

const QUERY = 'query Stock($by: Int) { stock(by: $by) { id count place } }';
let count = 3;
let federation: Federation;
beforeAll(async () => {
  federation = await startFederation(
    {
      stock: {
        sdl: 'type Query { stock(by: Int): Stock } type Mutation { sell: Int } type Stock @key(fields: "id") { id: ID! count: Int }',
        resolvers: { Query: { stock: () => ({ id: '1', count }) }, Mutation: { sell: () => --count } },
      },
      places: {
        sdl: 'type Stock @key(fields: "id") { id: ID! place: String }',
        resolvers: { Stock: { __resolveReference: (key: object) => key, place: () => 'Harbour' } },
      },
    },
    { env: { OPERATION_DEDUPLICATION: 'on', MAX_BATCH: '5' } },
  );
});
afterAll(() => federation.stop());

let release: () => void;
let failing: string | undefined;
beforeEach(() => {
  const released = new Promise<void>((resolve) => (release = resolve));
  failing = undefined;
  federation.received.length = 0;
  federation.intercept = async ({ subgraph, query }) => {
    if (!query.startsWith('mutation') && subgraph === 'stock') await released;
    return subgraph === failing ? { data: null, errors: [{ message: 'out of order' }] } : undefined;
  };
});
const received = () => federation.received.map(({ subgraph }) => subgraph);
const receivedCount = (expected: number) => until(() => Promise.resolve(federation.received.length === expected));
/** Waits until as many queries as that wait for an equal one, since the start. */
async function readShared(): Promise<number> {
  const text = await (await fetch(`${federation.gateway.url}/metrics`)).text();
  return Number(/^trestle_shared_executions_total (\d+)/m.exec(text)?.[1]);
}
const ask = (token: string, by = 1) => federation.ask(QUERY, { by }, { authorization: `Bearer ${token}` });

it('executes queries of one caller that are in flight together once, and those of another caller, or with other variables, by themselves', async () => {
  const before = await readShared();
  const replies = [ask('a'), ask('b'), ask('a', 2)];
  await receivedCount(3);
  for (let n = 0; n < 4; n++) replies.push(ask('a'));
  await until(async () => (await readShared()) === before + 4);
  release();
  for (const { status, body, headers } of await Promise.all(replies)) {
    expect([status, body]).toEqual([200, { data: { stock: { id: '1', count: 3, place: 'Harbour' } } }]);
    expect(headers.get('x-request-id')).toBeTruthy();
  }
  expect(received().sort()).toEqual(['places', 'places', 'places', 'stock', 'stock', 'stock']);
});

it('executes a query again after a mutation, whose result an older execution does not have', async () => {
  const older = ask('a');
  await receivedCount(1);
  const sold = await federation.ask('mutation { sell }', undefined, { authorization: 'Bearer a' });
  expect(sold.body).toEqual({ data: { sell: 2 } });
  const newer = ask('a');
  await receivedCount(3);
  release();
  expect((await newer).body.data).toMatchObject({ stock: { count: 2 } });
  await older;
});

it('executes each query by itself when the shared one has errors, with the id of its own request', async () => {
  failing = 'places';
  const before = await readShared();
  const replies = [ask('a')];
  await receivedCount(1);
  replies.push(ask('a'), ask('a'));
  await until(async () => (await readShared()) === before + 2);
  release();
  const ids = new Set<unknown>();
  for (const { body, headers } of await Promise.all(replies)) {
    expect(body.data).toMatchObject({ stock: { place: null } });
    expect(body.errors?.[0]?.extensions['requestId']).toBe(headers.get('x-request-id'));
    ids.add(headers.get('x-request-id'));
  }
  expect(ids.size).toBe(3);
});

it('executes the equal queries of a batch once', async () => {
  release();
  const body = Array.from({ length: 3 }, () => ({ query: QUERY, variables: { by: 5 } }));
  const reply = await request(federation.url, { method: 'POST', body, headers: { authorization: 'Bearer a' } });
  expect(reply.body).toEqual(Array(3).fill({ data: { stock: { id: '1', count, place: 'Harbour' } } }));
  expect(received()).toEqual(['stock', 'places']);
});

it('goes on with an execution when the client that began it disconnects', async () => {
  const before = await readShared();
  const leave = new AbortController();
  const body = JSON.stringify({ query: QUERY, variables: { by: 7 } });
  const headers = { 'content-type': 'application/json', authorization: 'Bearer a' };
  const left = fetch(federation.url, { method: 'POST', body, headers, signal: leave.signal }).catch(() => 'left');
  await receivedCount(1);
  const stayed = ask('a', 7);
  await until(async () => (await readShared()) === before + 1);
  leave.abort();
  expect(await left).toBe('left');
  release();
  expect((await stayed).body.data).toMatchObject({ stock: { place: 'Harbour' } });
  expect(received()).toEqual(['stock', 'places']);
});

it('executes every query by itself where an extension sets headers of fetches by the request', async () => {
  const home = await mkdtemp(join(tmpdir(), 'trestle-equal-'));
  const extension = `export default { name: 'user', onSubgraphRequest: ({ request, setHeader }) => setHeader('x-user', request.headers['x-visitor']) };`;
  await writeFile(join(home, 'user.mjs'), extension);
  const sources = { users: { sdl: 'type Query { me: String }', resolvers: { Query: { me: () => null } } } };
  const env = { OPERATION_DEDUPLICATION: 'on', EXTENSIONS_FILE: join(home, 'user.mjs') };
  const other = await startFederation(sources, { env });
  const names = ['ada', 'bob', 'cleo', 'dan'];
  // All are in flight at once.
  other.intercept = async ({ headers }) => {
    await until(() => Promise.resolve(other.received.length === names.length));
    return { data: { me: headers['x-user'] } };
  };
  try {
    const replies = names.map((name) => other.ask('{ me }', undefined, { 'x-visitor': name }));
    expect((await Promise.all(replies)).map(({ body }) => body.data)).toEqual(names.map((me) => ({ me })));
  } finally {
    await other.stop();
    await rm(home, { recursive: true, force: true });
  }
});
