/** What the processes that share one Redis find of each other. */
import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, it } from '@jest/globals';
import { RedisLink } from '@trestle/limits/redis-link';
import { startTestRedis } from '@trestle/limits/test-redis';
import { createRedisStore, find, hold, invalidate, log, toResult } from './test-store.ts';

// Says loudly when there is no Redis.
const redis = await startTestRedis();
afterAll(() => redis?.stop());

const describeRedis = redis ? describe : describe.skip;
describeRedis('stores of several processes with one Redis', () => {
  const keyPrefix = `trestle:test:${randomUUID()}:`;

  it('share results and invalidations', async () => {
    const [one, other] = [
      await createRedisStore(redis?.url ?? '', { keyPrefix }),
      await createRedisStore(redis?.directUrl ?? '', { keyPrefix }),
    ];
    one.put('shared', toResult('one', (await find(one, 'shared'))?.version ?? NaN));
    // Answered after the result was kept.
    await find(one, 'shared');
    expect((await find(other, 'shared'))?.found?.bytes.toString()).toBe('one');
    await invalidate(other, 'a');
    expect((await find(one, 'shared'))?.found).toBeUndefined();
    one.close();
    other.close();
  });

  it('share held tags, and find nothing for them that was kept before their time was over', async () => {
    const url = redis?.directUrl ?? '';
    const [one, other] = [await createRedisStore(url, { keyPrefix, holdMs: 500 }), await createRedisStore(url, { keyPrefix })];
    const tag = `client ${randomUUID()}`;
    let lookup: Awaited<ReturnType<typeof find>>;
    // On a busy machine the hold may be over before the result is kept.
    do {
      await hold(one, tag);
      other.put('held', toResult('one', (await find(other, 'held'))?.version ?? NaN));
      lookup = await find(other, 'held', [tag]);
    } while (lookup?.isHeld !== true);
    for (const deadline = Date.now() + 60_000; lookup?.isHeld === true && Date.now() < deadline;) lookup = await find(other, 'held', [tag]);
    expect([lookup?.isHeld, lookup?.found, (await find(one, 'held', ['another']))?.found?.bytes.toString()]).toEqual([
      false,
      undefined,
      'one',
    ]);
    other.put('held', toResult('two', lookup?.version ?? NaN));
    expect((await find(one, 'held', [tag]))?.found?.bytes.toString()).toBe('two');
    one.close();
    other.close();
  });

  it('hold a tag that one of them could not hold while Redis did not answer, once it has sent that', async () => {
    const cut = await createRedisStore(redis?.url ?? '', { keyPrefix, timeoutMs: 200 });
    const other = await createRedisStore(redis?.directUrl ?? '', { keyPrefix });
    const tag = `client ${randomUUID()}`;
    redis?.hold();
    expect([await hold(cut, tag), await find(cut, 'held', [tag])]).toEqual([false, undefined]);
    redis?.release();
    const deadline = Date.now() + 60_000;
    while (!(await find(other, 'held', [tag]))?.isHeld && Date.now() < deadline) await new Promise(setImmediate);
    expect((await find(other, 'held', [tag]))?.isHeld).toBe(true);
    cut.close();
    other.close();
  }, 120_000);

  it('share nothing with those of another graph', async () => {
    const one = await createRedisStore(redis?.directUrl ?? '', { keyPrefix: `${keyPrefix}one:` });
    const two = await createRedisStore(redis?.directUrl ?? '', { keyPrefix: `${keyPrefix}two:` });
    for (const [store, text] of [
      [one, 'of one'],
      [two, 'of two'],
    ] as const)
      store.put('same', toResult(text, (await find(store, 'same'))?.version ?? NaN));
    await invalidate(one, 'a');
    expect([(await find(one, 'same'))?.found, (await find(two, 'same'))?.found?.bytes.toString()]).toEqual([undefined, 'of two']);
    one.close();
    two.close();
  });

  it.each([
    ...['policy', 'tags', 'version', 'born'].map((field) => [field, 'not JSON'] as const),
    ...['null', '[]', '{"maxAge":"60","sharedMaxAge":60,"isPrivate":false}'].map((policy) => ['policy', policy] as const),
    ...['null', '{"a":"a"}', '[{}]'].map((tags) => ['tags', tags] as const),
    // Beyond that of all invalidations, so that none would end it.
    ...['nan', 'inf', '9007199254740991'].map((version) => ['version', version] as const),
    ['born', 'nan'],
  ])('find nothing where the %s of a result is %s, which no store writes, and go on', async (field, value) => {
    const store = await createRedisStore(redis?.directUrl ?? '', { keyPrefix });
    const link = new RedisLink({ url: redis?.directUrl ?? '', log, keyPrefix, scripts: {}, messages: { lost: '', found: '' } });
    await link.settled;
    for (const key of ['broken', 'whole']) store.put(key, toResult(key, (await find(store, key))?.version ?? NaN));
    await find(store, 'whole');
    await link.client.hset('result:broken', field, value);
    const lookups = [await find(store, 'broken'), await find(store, 'whole')];
    expect(lookups.map((lookup) => lookup && (lookup.found?.bytes.toString() ?? null))).toEqual([null, 'whole']);
    link.close();
    store.close();
  });

  it.each([
    ['the versions are a string', ['SET', 'versions', 'x']],
    ['the held tags are a string', ['SET', 'held', 'x']],
    ['the current version is infinite', ['ZADD', 'versions', 'inf', '~']],
    ['the current version is infinite, below zero', ['ZADD', 'versions', '-inf', '~']],
    ['the lowest version is infinite', ['ZADD', 'versions', 'inf', '!']],
    ['the lowest version is missing', ['ZREM', 'versions', '!']],
  ] as const)('find nothing of before where another program has written so that %s, and go on', async (_, [command, key, ...values]) => {
    const own = `trestle:test:${randomUUID()}:`;
    const store = await createRedisStore(redis?.directUrl ?? '', { keyPrefix: own });
    const link = new RedisLink({ url: redis?.directUrl ?? '', log, keyPrefix: '', scripts: {}, messages: { lost: '', found: '' } });
    await link.settled;
    const put = async (text: string) => {
      store.put('one', toResult(text, (await find(store, 'one'))?.version ?? NaN));
    };
    await put('before');
    await find(store, 'one');
    if (command === 'SET') await link.client.del(own + key);
    await link.client.call(command, own + key, ...values);
    expect(await find(store, 'one')).toMatchObject({ found: undefined, isHeld: false });
    await put('after');
    expect((await find(store, 'one'))?.found?.bytes.toString()).toBe('after');
    expect(await invalidate(store, 'a')).toBe(true);
    expect((await find(store, 'one'))?.found).toBeUndefined();
    link.close();
    store.close();
  });

  it('find nothing where a value of another kind is, and go on', async () => {
    const store = await createRedisStore(redis?.directUrl ?? '', { keyPrefix });
    const link = new RedisLink({ url: redis?.directUrl ?? '', log, keyPrefix, scripts: {}, messages: { lost: '', found: '' } });
    await link.settled;
    await link.client.set('result:other', 'a string');
    const { version = NaN, found } = (await find(store, 'other')) ?? {};
    // Once more, after the lookup has deleted it.
    await link.client.set('result:other', 'a string');
    store.put('other', toResult('one', version));
    expect([found, (await find(store, 'other'))?.found?.bytes.toString()]).toEqual([undefined, 'one']);
    link.close();
    store.close();
  });

  // A server that others use keeps its limit.
  (redis?.directUrl.endsWith(':6379') === false ? it : it.skip)(
    'find nothing that Redis has evicted, and nothing invalid when it has evicted the versions',
    async () => {
      const store = await createRedisStore(redis?.directUrl ?? '', { keyPrefix });
      const link = new RedisLink({ url: redis?.directUrl ?? '', log, keyPrefix, scripts: {}, messages: { lost: '', found: '' } });
      await link.settled;
      const [, limit = '0'] = await link.client.config('GET', 'maxmemory');
      const [, policy = 'noeviction'] = await link.client.config('GET', 'maxmemory-policy');
      const used = Number(/used_memory:(\d+)/.exec(await link.client.info('memory'))?.[1]);
      await link.client.config('SET', 'maxmemory-policy', 'allkeys-random');
      await link.client.config('SET', 'maxmemory', String(used + 3_000_000));
      try {
        const keys = Array.from({ length: 300 }, (_, i) => `large ${String(i)}`);
        let found = 0;
        for (const key of keys) {
          await invalidate(store, 'a');
          const text = `${key} ${'x'.repeat(50_000)}`;
          store.put(key, toResult(text, (await find(store, key))?.version ?? NaN, { tags: [key] }));
        }
        for (const key of keys) {
          const text = (await find(store, key))?.found?.bytes.toString();
          if (text === undefined) continue;
          found++;
          expect(text.startsWith(`${key} `)).toBe(true);
        }
        expect(found).toBeLessThan(100);
        for (const key of keys) await invalidate(store, key);
        expect((await Promise.all(keys.map((key) => find(store, key)))).filter((each) => each?.found)).toEqual([]);
      } finally {
        await link.client.config('SET', 'maxmemory', limit);
        await link.client.config('SET', 'maxmemory-policy', policy);
        link.close();
        store.close();
      }
    },
    120_000,
  );

  it('find nothing older than what one of them has invalidated while Redis did not answer, once it has sent that', async () => {
    const [cut, other] = [
      await createRedisStore(redis?.url ?? '', { keyPrefix, timeoutMs: 200 }),
      await createRedisStore(redis?.directUrl ?? '', { keyPrefix }),
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
    const [store, direct] = [
      await createRedisStore(redis?.url ?? '', { keyPrefix }),
      await createRedisStore(redis?.directUrl ?? '', { keyPrefix }),
    ];
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
