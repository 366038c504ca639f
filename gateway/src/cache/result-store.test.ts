/** The contract of stores, for each of them. */
import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, it } from '@jest/globals';
import { RedisLink } from '@trestle/limits/redis-link';
import { startTestRedis } from '@trestle/limits/test-redis';
import type { Log } from '@trestle/log';
import { MemoryStore } from './memory-store.ts';
import { RedisStore } from './redis-store.ts';
import { type Lookup, MAX_REMEMBERED_TAGS, MAX_RESULT_BYTES, type ResultStore, type StoredResult } from './result-store.ts';

const POLICY = { maxAge: 60, sharedMaxAge: 60, isPrivate: false };

const find = (store: ResultStore, key: string, tags: readonly string[] = []) =>
  new Promise<Lookup | undefined>((resolve) => {
    store.find({ key, tags }, resolve);
  });
const invalidate = (store: ResultStore, ...tags: string[]) =>
  new Promise<boolean>((resolve) => {
    store.invalidate(tags, resolve);
  });
const toResult = (text: string, version: number, other: Partial<StoredResult> = {}): StoredResult => ({
  bytes: Buffer.from(text),
  policy: POLICY,
  tags: ['a'],
  version,
  ageMs: 0,
  keptMs: 600_000,
  ...other,
});

let keys = 0;

// Says loudly when there is no Redis.
const redis = await startTestRedis();
afterAll(() => redis?.stop());

const write = () => undefined;
const log: Log = { debug: write, info: write, warn: write, error: write, access: write };

/** Nothing of another test is under its keys. */
const createRedisStore = async (url = redis?.url ?? '', { keyPrefix = `trestle:test:${randomUUID()}:`, timeoutMs = 20_000 } = {}) => {
  const store = new RedisStore({ url, log, keyPrefix, timeoutMs });
  await store.settled;
  return store;
};

const STORES = [
  { kind: 'memory', create: () => Promise.resolve<ResultStore>(new MemoryStore({ maxBytes: 10_000_000 })) },
  ...(redis ? [{ kind: 'redis', create: (): Promise<ResultStore> => createRedisStore() }] : []),
];

describe.each(STORES)('the store $kind', ({ create }) => {
  const start = async () => {
    const store: ResultStore = await create();
    const key = `key ${String(keys++)}`;
    const versionOf = async () => (await find(store, key))?.version ?? NaN;
    const textOf = async (...tags: string[]) => (await find(store, key, tags))?.found?.bytes.toString();
    return { store, key, versionOf, textOf };
  };

  it('returns what was kept, with its policy and its age', async () => {
    const { store, key, versionOf } = await start();
    const policy = { maxAge: 7, sharedMaxAge: 0, isPrivate: true };
    store.put(key, toResult('{"é":"\u{1f600}"}', await versionOf(), { policy, ageMs: 5000 }));
    const { found } = (await find(store, key)) ?? {};
    expect([found?.bytes.toString(), found?.policy]).toEqual(['{"é":"\u{1f600}"}', policy]);
    expect(found?.ageMs).toBeGreaterThanOrEqual(5000);
    expect(found?.ageMs).toBeLessThan(200_000);
    expect((await find(store, `${key} of another`))?.found).toBeUndefined();
    store.close();
  });

  it('returns nothing whose time is over', async () => {
    const { store, key, versionOf, textOf } = await start();
    store.put(key, toResult('old', await versionOf(), { ageMs: 600_000 }));
    expect(await textOf()).toBeUndefined();
    store.close();
  });

  it('returns nothing with a tag that was invalidated after the lookup before its execution', async () => {
    const { store, key, versionOf, textOf } = await start();
    const before = await versionOf();
    store.put(key, toResult('one', before, { tags: ['a', 'b'] }));
    await invalidate(store, 'c');
    expect(await textOf()).toBe('one');
    await invalidate(store, 'b', 'd');
    expect(await textOf()).toBeUndefined();
    store.put(key, toResult('late', before, { tags: ['a', 'b'] }));
    expect(await textOf()).toBeUndefined();
    store.put(key, toResult('new', await versionOf(), { tags: ['a', 'b'] }));
    expect(await textOf()).toBe('new');
    store.close();
  });

  it('returns nothing older than an invalidation of a tag of the lookup, and keeps it for other lookups', async () => {
    const { store, key, versionOf, textOf } = await start();
    store.put(key, toResult('one', await versionOf()));
    await invalidate(store, 'client');
    expect([await textOf('client'), await textOf('other'), await textOf()]).toEqual([undefined, 'one', 'one']);
    store.put(key, toResult('two', await versionOf()));
    expect(await textOf('client')).toBe('two');
    store.close();
  });

  it('does not replace a result by an older one', async () => {
    const { store, key, versionOf, textOf } = await start();
    const before = await versionOf();
    await invalidate(store, 'client');
    store.put(key, toResult('new', await versionOf()));
    store.put(key, toResult('old', before));
    expect(await textOf()).toBe('new');
    store.close();
  });

  it('keeps no result beyond the largest', async () => {
    const { store, key, versionOf, textOf } = await start();
    store.put(key, toResult('x'.repeat(MAX_RESULT_BYTES + 1), await versionOf()));
    expect(await textOf()).toBeUndefined();
    store.put(key, toResult('x'.repeat(MAX_RESULT_BYTES), await versionOf()));
    expect((await textOf())?.length).toBe(MAX_RESULT_BYTES);
    store.close();
  });

  it('regards everything as invalid that is older than an invalidation that it has forgotten', async () => {
    const { store, key, versionOf, textOf } = await start();
    store.put(key, toResult('one', await versionOf()));
    await invalidate(store, 'forgotten');
    const tags = Array.from({ length: MAX_REMEMBERED_TAGS - 1 }, (_, i) => `other ${String(i)}`);
    await invalidate(store, ...tags);
    expect([await textOf(), await textOf('forgotten')]).toEqual(['one', undefined]);
    await invalidate(store, 'one more');
    expect([await textOf(), await textOf('forgotten')]).toEqual([undefined, undefined]);
    store.put(key, toResult('two', await versionOf()));
    expect(await textOf('forgotten')).toBe('two');
    store.close();
  });
});

describe('the memory of a MemoryStore', () => {
  it('is bounded in bytes, with what an entry takes besides, and keeps what was used last', async () => {
    const store = new MemoryStore({ maxBytes: 100_000 });
    for (let i = 0; i < 500; i++) store.put(String(i), toResult('x'.repeat(i % 2 === 0 ? 1 : 5000), 0));
    expect(store.bytes).toBeGreaterThan(80_000);
    expect(store.bytes).toBeLessThanOrEqual(100_000);
    expect((await find(store, '499'))?.found).toBeDefined();
    expect((await find(store, '0'))?.found).toBeUndefined();
  });
});

(redis ? describe : describe.skip)('stores of several processes with one Redis', () => {
  const keyPrefix = `trestle:test:${randomUUID()}:`;

  it('share results and invalidations', async () => {
    const [one, other] = [await createRedisStore(redis?.url, { keyPrefix }), await createRedisStore(redis?.directUrl, { keyPrefix })];
    one.put('shared', toResult('one', (await find(one, 'shared'))?.version ?? NaN));
    // Answered after the result was kept.
    await find(one, 'shared');
    expect((await find(other, 'shared'))?.found?.bytes.toString()).toBe('one');
    await invalidate(other, 'a');
    expect((await find(one, 'shared'))?.found).toBeUndefined();
    one.close();
    other.close();
  });

  it('find nothing older than what one of them has invalidated while Redis did not answer, once it has sent that', async () => {
    const [cut, other] = [
      await createRedisStore(redis?.url, { keyPrefix, timeoutMs: 200 }),
      await createRedisStore(redis?.directUrl, { keyPrefix }),
    ];
    other.put('late', toResult('old', (await find(other, 'late'))?.version ?? NaN));
    expect((await find(other, 'late'))?.found).toBeDefined();
    redis?.hold();
    const isShared = await new Promise<boolean>((resolve) => {
      cut.invalidate(['a'], resolve);
    });
    expect([isShared, await find(cut, 'late')]).toEqual([false, undefined]);
    redis?.release();
    const deadline = Date.now() + 60_000;
    while ((await find(other, 'late'))?.found && Date.now() < deadline) await new Promise(setImmediate);
    expect((await find(other, 'late'))?.found).toBeUndefined();
    cut.close();
    other.close();
  }, 120_000);

  it('find nothing while Redis is away, and nothing of before when it has lost the versions', async () => {
    const [store, direct] = [await createRedisStore(redis?.url, { keyPrefix }), await createRedisStore(redis?.directUrl, { keyPrefix })];
    store.put('kept', toResult('one', (await find(store, 'kept'))?.version ?? NaN));
    expect((await find(store, 'kept'))?.found).toBeDefined();
    const link = new RedisLink({ url: redis?.directUrl ?? '', log, keyPrefix, scripts: {}, messages: { lost: '', found: '' } });
    await link.settled;
    await link.client.del('versions');
    expect((await find(direct, 'kept'))?.found).toBeUndefined();
    link.close();
    await redis?.kill();
    expect(await find(store, 'kept')).toBeUndefined();
    await redis?.revive();
    store.close();
    direct.close();
  }, 120_000);
});
