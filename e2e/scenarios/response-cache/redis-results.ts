/** Tests: results that several gateways share in Redis. */
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RedisLink } from '@trestle/limits/redis-link';
import { until } from '../../stack/clients/client.ts';
import { startGateway } from '../../stack/federation/federation.ts';
import type { RunningProcess } from '../../stack/processes/process.ts';
import { type Headers, ADA, BOB, ask, federation, folder, fresh, nextNumber, redis, statusOf } from './lamp-system.ts';
import { state } from './lamps.ts';

/** What another program may write into the fields of results. */
const GARBAGE = [
  ['bytes', 'garbage'],
  ['bytes', '{garbage}'],
  ['bytes', '{"data":{"lamp":garbage}}'],
  ['bytes', '{"name":"of another program","price":1}'],
  ['bytes', '{}'],
  ['policy', '{"maxAge":1e999,"sharedMaxAge":1e999,"isPrivate":false}'],
  ['tags', '["another"]'],
] as const;

/** Writes a field of all results in Redis. */
async function overwrite(field: string, value: string): Promise<void> {
  const write = () => undefined;
  const log = { debug: write, info: write, warn: write, error: write, access: write };
  const link = new RedisLink({ url: redis?.directUrl ?? '', log, keyPrefix: '', scripts: {}, messages: { lost: '', found: '' } });
  await link.settled;
  for (const key of await link.client.keys('trestle:cache:*:result:*')) await link.client.hset(key, field, value);
  link.close();
}

(redis ? describe : describe.skip)('a cache in Redis', () => {
  let gateways: RunningProcess[] = [];
  beforeAll(async () => {
    const file = join(folder, 'supergraph.graphql');
    // Results of other runs have other keys.
    await writeFile(file, `${federation.supergraphSdl}\n# ${randomUUID()}\n`);
    const env = { RESPONSE_CACHE: 'redis', RESPONSE_CACHE_SHARING: 'all', REDIS_URL: redis?.url ?? '', RESPONSE_CACHE_TIMEOUT_MS: '3000' };
    const start = (more: Headers = {}) => startGateway(['--supergraph', file, '--port', '0', '--auth', 'off'], { ...env, ...more });
    gateways = await Promise.all([start(), start({ REDIS_URL: redis?.directUrl ?? '' }), start({ RESPONSE_CACHE_CONTENTS: 'entities' })]);
  });
  afterAll(async () => {
    await Promise.all(gateways.map((gateway) => gateway.end('SIGTERM')));
  });

  const via = (index: number, query: string, headers: Headers = {}) =>
    ask(query, headers, { url: `${gateways[index]?.url ?? ''}/graphql` });

  it('is shared by gateways, and no gateway answers a client with a result that is older than its mutation at another', async () => {
    const query = fresh('{ lamp { name price } }');
    await until(async () => (statusOf(await via(0, query, ADA)) ?? '').includes('; hit'));
    await until(async () => (statusOf(await via(1, query, BOB)) ?? '').includes('; hit'));
    for (let i = 0; i < 20; i++) {
      const name = `shared ${String(i)}`;
      await via(i % 2, `mutation { touch(name: "${name}") }`, ADA);
      expect((await via((i + 1) % 2, query, ADA)).body.data).toEqual({ lamp: { name, price: state.price } });
      expect((await via(i % 2, query, ADA)).body.data).toEqual({ lamp: { name, price: state.price } });
    }
  });

  it.each(GARBAGE)('in which another program has written %s %s is not used, and results are executed again', async (field, garbage) => {
    const query = fresh('{ lamp { name price } }');
    for (const index of [0, 2]) {
      const first = await via(index, query, ADA);
      await overwrite(field, garbage);
      const { status, body, headers } = await via(index, query, ADA);
      expect([status, body]).toEqual([200, first.body]);
      expect(headers.get('cache-control')).toBe(first.headers.get('cache-control'));
      expect(headers.get('cache-status')).not.toContain('hit');
    }
  });

  it('that does not answer, or is gone, fails no request, and is used again when it is back', async () => {
    const query = fresh('{ lamp { name } }');
    for (const [lose, bring] of [
      [() => redis?.hold(), () => redis?.release()],
      [() => redis?.kill(), () => redis?.revive()],
    ] as const) {
      await lose();
      state.name = `lost ${String(nextNumber())}`;
      expect((await via(0, query)).body.data).toEqual({ lamp: { name: state.name } });
      const name = `changed ${String(nextNumber())}`;
      expect((await via(0, `mutation { touch(name: "${name}") }`)).body.data).toEqual({ touch: true });
      expect((await via(0, query)).body.data).toEqual({ lamp: { name } });
      expect(statusOf(await via(0, query))).toBe('Trestle; fwd=bypass');
      expect(statusOf(await via(2, query))).toBe('TrestleEntities; fwd=bypass; detail="0 of 0"');
      await bring();
      await until(async () => (statusOf(await via(0, query)) ?? '').includes('; hit'));
      expect((await via(0, query)).body.data).toEqual({ lamp: { name } });
    }
  });
});
