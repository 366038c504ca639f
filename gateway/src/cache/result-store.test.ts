/** The contract of stores, for each of them. */
import { afterAll, describe, expect, it } from '@jest/globals';
import { startTestRedis } from '@trestle/limits/test-redis';
import { MemoryStore } from './memory-store.ts';
import { HOLD_MS, MAX_REMEMBERED_TAGS, MAX_RESULT_BYTES, type ResultStore } from './result-store.ts';
import { createRedisStore, find, hold, invalidate, toResult } from './test-store.ts';

let keys = 0;

// Says loudly when there is no Redis.
const redis = await startTestRedis();
afterAll(() => redis?.stop());

const STORES = [
  { kind: 'memory', create: () => Promise.resolve<ResultStore>(new MemoryStore({ maxBytes: 10_000_000 })) },
  ...(redis ? [{ kind: 'redis', create: (): Promise<ResultStore> => createRedisStore(redis.url) }] : []),
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

  it('returns several results in the order of their keys, with their tags, each only while it is valid', async () => {
    const { store, key, versionOf } = await start();
    const keys = ['a', 'b', 'c'].map((each) => `${key} ${each}`);
    const version = await versionOf();
    for (const i of [0, 2]) store.put(keys[i] as string, toResult(String(i), version, { tags: [`tag ${String(i)}`, 'é'] }));
    const findAll = (...tags: string[]) =>
      new Promise((resolve) => {
        store.findAll({ keys, tags }, (lookup) => {
          resolve(lookup?.found.map((each) => each && [each.bytes.toString(), each.tags]));
        });
      });
    expect(await findAll()).toEqual([['0', ['tag 0', 'é']], undefined, ['2', ['tag 2', 'é']]]);
    await invalidate(store, 'tag 0', 'client');
    expect([await findAll(), await findAll('client')]).toEqual([
      [undefined, undefined, ['2', ['tag 2', 'é']]],
      [undefined, undefined, undefined],
    ]);
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

  it('returns nothing with a part that is older than an invalidation of a tag of the lookup', async () => {
    const { store, key, versionOf, textOf } = await start();
    const before = await versionOf();
    await invalidate(store, 'client');
    store.put(key, toResult('of an older part', await versionOf(), { partsVersion: before }));
    expect([await textOf('client'), await textOf('other')]).toEqual([undefined, 'of an older part']);
    expect((await find(store, key))?.found?.partsVersion).toBe(before);
    store.close();
  });

  it('returns nothing for lookups with a held tag, and what is kept for others', async () => {
    const { store, key, versionOf, textOf } = await start();
    store.put(key, toResult('one', await versionOf()));
    await hold(store, 'client');
    expect([await textOf('client'), await textOf('other')]).toEqual([undefined, 'one']);
    store.put(key, toResult('two', await versionOf()));
    expect([await textOf('client'), await textOf('other')]).toEqual([undefined, 'two']);
    expect((await find(store, key, ['other', 'client']))?.isHeld).toBe(true);
    expect((await find(store, key, ['other']))?.isHeld).toBe(false);
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

  it('holds no more tags than it remembers', async () => {
    const { store, key } = await start();
    const isHeld = async (tag: string) => (await find(store, key, [tag]))?.isHeld;
    await hold(store, 'first');
    expect(await isHeld('first')).toBe(true);
    await hold(store, ...Array.from({ length: MAX_REMEMBERED_TAGS }, (_, i) => `other ${String(i)}`));
    expect([await isHeld('first'), await isHeld('other 0')]).toEqual([false, true]);
    store.close();
  });
});

describe('a MemoryStore whose tags are held no longer', () => {
  it('returns nothing for them that was kept meanwhile, and what is kept afterwards', async () => {
    let now = 0;
    const store = new MemoryStore({ maxBytes: 100_000, now: () => now });
    const textOf = async (...tags: string[]) => (await find(store, 'key', tags))?.found?.bytes.toString();
    const put = async (text: string) => store.put('key', toResult(text, (await find(store, 'key'))?.version ?? NaN));
    await hold(store, 'client');
    await put('meanwhile');
    now = HOLD_MS - 1;
    expect((await find(store, 'key', ['client']))?.isHeld).toBe(true);
    now = HOLD_MS;
    expect((await find(store, 'key', ['client']))?.isHeld).toBe(false);
    expect([await textOf('client'), await textOf('other')]).toEqual([undefined, 'meanwhile']);
    await put('afterwards');
    expect(await textOf('client')).toBe('afterwards');
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
