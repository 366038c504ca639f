/** Two gateways before the lamps: what the tests of the response cache share, so that one start serves all of them. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTestRedis } from '@trestle/limits/test-redis';
import { type Reply, request } from '../../stack/clients/client.ts';
import { type Answer, type Federation, startFederation, startGateway } from '../../stack/federation/federation.ts';
import type { RunningProcess } from '../../stack/processes/process.ts';
import { LAMPS, state } from './lamps.ts';

const RULES = `
headers:
  request: [{ propagate: X-Tenant }]
  response: [{ propagate: Cache-Control }, { propagate: X-Served-By }]
`;
export const [ADA, BOB] = [{ authorization: 'Basic YWRh' }, { authorization: 'Basic Ym9i' }];
export const KEY = 'k'.repeat(32);
export const MINE = '{ mine { name } }';

// Says loudly when there is no Redis.
export const redis = await startTestRedis();

export let folder: string;
export let federation: Federation;
/** Another gateway before the same subgraphs, where all clients share what is PUBLIC, in a small cache. */
export let sharing: RunningProcess;
/** Two gateways before them that keep single fetches: on bytes in memory, and with objects in Redis if there is one. */
export let entityGateways: RunningProcess[] = [];
let next = 0;
/** Returns a number that no test has used. */
export const nextNumber = () => next++;

/** Starts both gateways, with the subgraphs. */
export async function startLamps(): Promise<void> {
  folder = await mkdtemp(join(tmpdir(), 'trestle-response-cache-'));
  const rules = join(folder, 'rules.yaml');
  await writeFile(rules, RULES);
  federation = await startFederation(LAMPS, { args: ['--config', rules], env: { RESPONSE_CACHE: 'memory', RESPONSE_CACHE_KEY: KEY } });
  const file = join(folder, 'supergraph.graphql');
  await writeFile(file, federation.supergraphSdl);
  const env = {
    RESPONSE_CACHE: 'memory',
    RESPONSE_CACHE_SHARING: 'all',
    RESPONSE_CACHE_BYTES: '300000',
    RESPONSE_CACHE_STALE_SECONDS: '600',
  };
  const args = ['--supergraph', file, '--port', '0', '--auth', 'off', '--config', rules];
  const entities = {
    RESPONSE_CACHE: 'memory',
    RESPONSE_CACHE_CONTENTS: 'entities',
    RESPONSE_CACHE_SHARING: 'all',
    RESPONSE_CACHE_STALE_SECONDS: '600',
    RESPONSE_CACHE_KEY: KEY,
  };
  const other = {
    ...entities,
    EXECUTOR: 'objects',
    ...(redis && { RESPONSE_CACHE: 'redis', REDIS_URL: redis.directUrl, RESPONSE_CACHE_TIMEOUT_MS: '3000' }),
  };
  [sharing, ...entityGateways] = (await Promise.all([env, entities, other].map((each) => startGateway(args, each)))) as [
    RunningProcess,
    ...RunningProcess[],
  ];
}

/** Lets the subgraphs answer as they do at first. */
export function resetLamps(): void {
  federation.received.length = 0;
  federation.intercept = undefined;
  state.isBroken = false;
}

/** Ends everything that was started, and Redis. */
export async function stopLamps(): Promise<void> {
  await Promise.all([sharing, ...entityGateways].map((gateway) => gateway.end('SIGTERM')));
  await federation.stop();
  await redis?.stop();
  await rm(folder, { recursive: true, force: true });
}

export type Headers = Record<string, string>;

/** Returns an operation that no test has sent, so that its result is not kept yet. */
export const fresh = (query: string, declared = '') => `query Q${String(next++)}${declared} ${query}`;
export const statusOf = ({ headers }: Reply) => headers.get('cache-status');
export const ask = async (
  query: string,
  headers: Headers = {},
  { variables = {}, url = federation.url }: { variables?: object; url?: string } = {},
) => (await request(url, { method: 'POST', body: { query, variables }, headers })) as Reply & { body: Answer };
export const HIT = /^Trestle; hit; ttl=\d+$/;
export const STORED = 'Trestle; fwd=uri-miss; stored';

/** Returns a promise and the function that resolves it. */
export const createGate = () => {
  let open = (): void => undefined;
  const isOpen = new Promise<undefined>((resolve) => {
    open = () => {
      resolve(undefined);
    };
  });
  return {
    isOpen,
    open: () => {
      open();
    },
  };
};

/** Returns how many requests subgraphs got for an operation, once for each set of headers. */
export const fetchesOf = async (query: string, ...each: readonly Headers[]) => {
  const counts: number[] = [];
  for (const headers of each) {
    const before = federation.received.length;
    await ask(query, headers);
    counts.push(federation.received.length - before);
  }
  return counts;
};
