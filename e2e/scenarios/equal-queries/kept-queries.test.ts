/** Equal queries in flight (`traffic.deduplicate`, `traffic.deduplicateOperations`) of real gateways that keep results: none outlives an invalidation. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestRedis } from '@trestle/limits/test-redis';
import { request, until } from '../../stack/clients/client.ts';
import { type Answer, type Federation, startFederation, startGateway } from '../../stack/federation/federation.ts';
import type { RunningProcess } from '../../stack/processes/process.ts';
import { CACHE_CONTROL } from '../response-cache/lamps.ts';

const KEY = 'k'.repeat(32);
const DEDUPLICATION = { UPSTREAM_DEDUPLICATION: 'on', OPERATION_DEDUPLICATION: 'on', RESPONSE_CACHE_KEY: KEY };

// Says loudly when there is no Redis.
const redis = await startTestRedis();

let stock = 1;
let folder: string;
let federation: Federation;
/** Gateways before the same subgraph, the last of which keeps single fetches: in Redis if there is one. */
let gateways: RunningProcess[] = [];
/** A gateway that keeps single fetches, and shares whole executions. */
let entities: RunningProcess;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trestle-kept-queries-'));
  federation = await startFederation({
    stock: {
      sdl: `${CACHE_CONTROL} type Query { stock: Int @cacheControl(maxAge: 600) live: Int } type Mutation { sell: Int }`,
      resolvers: { Query: { stock: () => stock, live: () => stock }, Mutation: { sell: () => --stock } },
    },
  });
  const file = join(folder, 'supergraph.graphql');
  // Results of other runs have other keys.
  await writeFile(file, `${federation.supergraphSdl}\n# ${randomUUID()}\n`);
  const start = (env: Record<string, string>) =>
    startGateway(['--supergraph', file, '--port', '0', '--auth', 'off'], { ...DEDUPLICATION, ...env });
  const shared = redis
    ? { RESPONSE_CACHE: 'redis', REDIS_URL: redis.directUrl, RESPONSE_CACHE_TIMEOUT_MS: '3000' }
    : { RESPONSE_CACHE: 'memory' };
  [entities, ...gateways] = await Promise.all([
    start({ RESPONSE_CACHE: 'memory', RESPONSE_CACHE_CONTENTS: 'entities' }),
    start(shared),
    start(shared),
    start({ ...shared, RESPONSE_CACHE_CONTENTS: 'entities' }),
  ]);
});
afterAll(async () => {
  await Promise.all([entities, ...gateways].map((gateway) => gateway.end('SIGTERM')));
  await federation.stop();
  await redis?.stop();
  await rm(folder, { recursive: true, force: true });
});

const ask = async (gateway: RunningProcess | undefined, query = '{ stock }') =>
  ((await request(`${gateway?.url ?? ''}/graphql`, { method: 'POST', body: { query } })).body as Answer).data;
const invalidate = (gateway: RunningProcess | undefined) =>
  request(`${gateway?.url ?? ''}/response-cache`, { method: 'POST', body: { all: true }, headers: { authorization: `Bearer ${KEY}` } });

/** Holds the responses of queries, each with the stock at the time of its request, until the function that is returned is called. */
function holdQueries(): () => void {
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  federation.received.length = 0;
  federation.intercept = async ({ query }) => {
    if (query.startsWith('mutation')) return undefined;
    const data = { stock };
    await released;
    return { data };
  };
  return release;
}

/** Resolves with what an older, a newer and a last query get; `change` is made while the older one is in flight. */
async function readAround(gateway: RunningProcess | undefined, change: () => Promise<unknown>, query = '{ stock }') {
  await invalidate(gateway);
  // Another operation, so that the gateway has noticed this invalidation before.
  await ask(gateway, '{ again: stock }');
  const release = holdQueries();
  const older = ask(gateway, query);
  await until(() => Promise.resolve(federation.received.length === 1));
  await change();
  const sent = federation.received.length;
  const newer = ask(gateway, query);
  await until(() => Promise.resolve(federation.received.length === sent + 1));
  release();
  return [await older, await newer, await ask(gateway, query)].map((data) => data?.['stock']);
}

it.each([
  ['whole results', () => gateways[0]],
  ['single fetches', () => entities],
])(
  'a gateway that keeps %s gives no query what was sent to a subgraph before an invalidation, and does not keep it',
  async (_, gatewayOf) => {
    stock = 5;
    const change = async () => {
      stock = 4;
      expect((await invalidate(gatewayOf())).status).toBe(200);
    };
    expect(await readAround(gatewayOf(), change)).toEqual([5, 4, 4]);
  },
);

(redis ? describe : describe.skip)('a gateway that shares results in Redis', () => {
  it('gives no query what was sent to a subgraph before a mutation at another gateway, and does not keep it', async () => {
    stock = 5;
    expect(await readAround(gateways[0], () => ask(gateways[1], 'mutation { sell }'))).toEqual([5, 4, 4]);
  });

  it('does so with a query whose result is never kept', async () => {
    stock = 5;
    expect(await readAround(gateways[0], () => ask(gateways[1], 'mutation { sell }'), '{ stock: live }')).toEqual([5, 4, 4]);
  });

  it('does so where it keeps single fetches', async () => {
    stock = 5;
    expect(await readAround(gateways[2], () => ask(gateways[1], 'mutation { sell }'))).toEqual([5, 4, 4]);
  });
});
