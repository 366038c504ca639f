/** Two workers that share results of queries in Redis. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestRedis } from '@trestle/limits/test-redis';
import { readMetric, until } from '../../stack/clients/client.ts';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';
import { postAlone } from '../../stack/clients/own-connection.ts';
import { LAMPS, state } from '../response-cache/lamps.ts';

const WORKERS = 2;
const ROUNDS = 40;
const HIT = /^Trestle; hit; ttl=\d+$/;

// Says loudly when there is no Redis.
const redis = await startTestRedis();

(redis ? describe : describe.skip)('two workers with a response cache in Redis', () => {
  let federation: Federation;
  beforeAll(async () => {
    const env = { RESPONSE_CACHE: 'redis', RESPONSE_CACHE_SHARING: 'all', REDIS_URL: redis?.url ?? '', RESPONSE_CACHE_TIMEOUT_MS: '3000' };
    federation = await startFederation(LAMPS, { env, args: ['--workers', String(WORKERS)] });
    await until(async () => (await readMetric(federation.gateway.url, 'trestle_workers')) === WORKERS);
  });
  afterAll(async () => {
    await federation.stop();
    await redis?.stop();
  });

  /** Sends a request on a connection of its own: the workers get connections in turn. */
  const post = async (query: string) => {
    const { text, headers } = await postAlone(federation.url, { body: { query } });
    return { body: JSON.parse(text) as unknown, status: String(headers['cache-status']) };
  };

  it('answer with what the other one has kept, and never with a result that is older than a mutation at the other one', async () => {
    const query = '{ lamp { name price } }';
    for (let i = 0; i < ROUNDS; i++) {
      const name = `worker ${String(i)}`;
      await post(`mutation { touch(name: "${name}") }`);
      const expected = { data: { lamp: { name, price: state.price } } };
      // Of three reads one is of the worker that did not execute the mutation.
      for (let read = 0; read < 3; read++) expect((await post(query)).body).toEqual(expected);
    }
    await until(async () => HIT.test((await post(query)).status));
    const fetched = federation.received.length;
    for (let i = 0; i < 2 * WORKERS; i++) expect((await post(query)).status).toMatch(HIT);
    expect(federation.received).toHaveLength(fetched);
  });
});
