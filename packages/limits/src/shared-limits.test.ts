/** Limits that processes share through a real Redis server, also while it is killed, slow, and back again. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Log } from '@trestle/log';
import { Redis } from 'ioredis';
import { type Decision, type RateLimiter, type SharedWindows, type Subject, createRateLimiter } from './rate-limiter.ts';
import { type RedisWindows, createRedisWindows } from './redis-windows.ts';
import { WINDOW_MS, createSlidingWindows } from './sliding-windows.ts';
import { type TestRedis, startTestRedis } from './test-redis.ts';

const redis = await startTestRedis();
const keyPrefix = `trestle:test:${randomUUID()}:`;

interface TestProcess {
  readonly limiter: RateLimiter;
  readonly shared: RedisWindows;
  readonly messages: string[];
}

const started: TestProcess[] = [];

/** What one process of a deployment has. */
async function startProcess(
  url: string,
  { timeoutMs = 5000, nearby }: { readonly timeoutMs?: number; readonly nearby?: SharedWindows } = {},
): Promise<TestProcess> {
  const messages: string[] = [];
  const write = (level: string) => (message: string) => messages.push(`${level}: ${message}`);
  const log = { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error'), access: () => undefined } as Log;
  const shared = createRedisWindows({ url, log, keyPrefix, timeoutMs });
  await shared.settled;
  const one = {
    limiter: createRateLimiter({ windows: createSlidingWindows(), shared: nearby ? [shared, nearby] : [shared] }),
    shared,
    messages,
  };
  started.push(one);
  return one;
}

function createSubject(limit: number): Subject {
  return { key: `user:${randomUUID()}`, policy: 'free', limit };
}

async function waitUntil(isTrue: () => boolean): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!isTrue()) {
    if (Date.now() > deadline) throw new Error('The condition did not become true in time.');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Takes one unit in each of some processes in turn, all at once. Returns how many were allowed. */
async function takeAtOnce(processes: readonly TestProcess[], subject: Subject, count: number): Promise<number> {
  const decisions = Array.from({ length: count }, async (_, i) =>
    (processes[i % processes.length] as TestProcess).limiter.take(subject, 1),
  );
  return (await Promise.all(decisions)).filter(({ isAllowed }) => isAllowed).length;
}

describe('limits that are shared through Redis', () => {
  const itShared = redis ? it : it.skip;
  const { url, directUrl } = redis ?? { url: '', directUrl: '' };
  const server = redis as TestRedis;
  let one: TestProcess;
  let other: TestProcess;
  beforeAll(async () => {
    if (!redis) return;
    one = await startProcess(url);
    other = await startProcess(url);
  });
  afterAll(async () => {
    if (!redis) return;
    for (const { limiter } of started) limiter.close();
    const client = new Redis(directUrl);
    const keys = await client.keys(`${keyPrefix}*`);
    if (keys.length > 0) await client.del(keys);
    client.disconnect();
    await server.stop();
  });

  itShared('counts the requests of all processes together, exactly, also when they arrive at once', async () => {
    const subject = createSubject(50);
    expect(await takeAtOnce([one, other], subject, 200)).toBe(50);
    const refused = await other.limiter.take(subject, 1);
    expect(refused).toMatchObject({ isAllowed: false, remaining: 0 });
    expect(refused.retryAfterSeconds).toBeGreaterThan(50);
    expect(refused.retryAfterSeconds).toBeLessThanOrEqual(60);
    expect(refused.resetAtMs - Date.now()).toBeGreaterThan(50_000);
  });

  itShared('takes all units or none, and counts more units than the limit as the limit', async () => {
    const subject = createSubject(10);
    expect(await one.limiter.take(subject, 4)).toMatchObject({ isAllowed: true, remaining: 6 });
    expect(await other.limiter.take(subject, 7)).toMatchObject({ isAllowed: false, remaining: 6 });
    expect(await other.limiter.take(subject, 6)).toMatchObject({ isAllowed: true, remaining: 0 });
    expect(await one.limiter.take(createSubject(10), 500)).toMatchObject({ isAllowed: true, remaining: 0 });
  });

  itShared('gives a refund back to all processes', async () => {
    const subject = createSubject(2);
    const first = await one.limiter.take(subject, 2);
    expect(one.limiter.refund(first)).toMatchObject({ remaining: 2 });
    // Redis runs the commands of one connection in their order.
    await one.limiter.take(createSubject(1), 1);
    expect(await other.limiter.take(subject, 2)).toMatchObject({ isAllowed: true, remaining: 0 });
  });

  itShared('counts at once in the process, and in Redis without being waited for', async () => {
    const subject = createSubject(3);
    expect([one.limiter.count(subject).remaining, one.limiter.count(subject).remaining]).toEqual([2, 1]);
    // Redis runs the commands of one connection in their order.
    await one.limiter.take(createSubject(1), 1);
    expect(await other.limiter.take(subject, 2)).toMatchObject({ isAllowed: false, remaining: 1 });
    expect(await other.limiter.take(subject, 1)).toMatchObject({ isAllowed: true, remaining: 0 });
    expect(one.limiter.count(subject)).toMatchObject({ isAllowed: true, remaining: 0 });
    expect(one.limiter.count(subject)).toMatchObject({ isAllowed: false, remaining: 0 });
  });

  itShared.each([
    ['a string', Buffer.from('garbage')],
    ['a list with a string', Buffer.from([0x92, 0xa1, 0x61, 0x01])],
    ['a list of one number', Buffer.from([0x91, 0x01])],
    ['a time that is long to come', Buffer.from([0x92, 0xcb, 0x7e, 0x37, 0xe4, 0x3c, 0x88, 0x00, 0x75, 0x9c, 0x7f])],
    ['a value of another type', undefined],
  ])('counts for all processes from the start where another program has written %s', async (_, value) => {
    const subject = createSubject(5);
    const client = new Redis(directUrl);
    const key = `${keyPrefix}${subject.key}`;
    await (value ? client.set(key, value) : client.hset(key, 'x', 'x'));
    client.disconnect();
    expect(await takeAtOnce([one, other], subject, 20)).toBe(5);
    expect([one.shared.isUsed, other.shared.isUsed]).toEqual([true, true]);
  });

  itShared('keeps nothing in Redis for longer than the window', async () => {
    const subject = createSubject(2);
    await one.limiter.take(subject, 1);
    const client = new Redis(directUrl);
    const ttl = await client.pttl(`${keyPrefix}${subject.key}`);
    client.disconnect();
    expect(ttl).toBeGreaterThan(0);
    expect(ttl).toBeLessThanOrEqual(WINDOW_MS);
  });

  itShared(
    'goes on with the count of its own process, without an error, when Redis is killed; warns once, and shares again when it is back',
    async () => {
      const subject = createSubject(20);
      expect(await takeAtOnce([one], subject, 15)).toBe(15);
      const inFlight = takeAtOnce([one], subject, 3);
      await server.kill();
      expect(await inFlight).toBe(3);
      await waitUntil(() => !one.shared.isUsed && !other.shared.isUsed);
      // Neither an outage nor unlimited: 18 of 20 were taken before.
      expect(await takeAtOnce([one], subject, 10)).toBe(2);
      expect(one.messages).toEqual(['warn: Redis cannot be used: requests are counted without it until it can']);

      await server.revive();
      await waitUntil(() => one.shared.isUsed && other.shared.isUsed);
      expect(one.messages[1]).toBe('info: Redis is used again: requests are counted for all processes together');
      // Redis has forgotten the window, this process has not.
      expect((await one.limiter.take(subject, 1)).isAllowed).toBe(false);
      const another = createSubject(10);
      expect(await takeAtOnce([one, other], another, 30)).toBe(10);
    },
  );

  itShared('counts together with the processes nearby while Redis cannot be used', async () => {
    const nearby = createSlidingWindows();
    const windows: SharedWindows = {
      isUsed: true,
      take: (...units) => Promise.resolve(nearby.take(...units)),
      refund: (...units) => {
        nearby.refund(...units);
      },
      close: () => undefined,
    };
    const workers = await Promise.all([startProcess(url, { nearby: windows }), startProcess(url, { nearby: windows })]);
    await server.kill();
    await waitUntil(() => workers.every(({ shared }) => !shared.isUsed));
    const subject = createSubject(10);
    expect(await takeAtOnce(workers, subject, 30)).toBe(10);
    // A refund goes to the windows that have the units.
    const spare = createSubject(1);
    const [one, other] = workers;
    one.limiter.refund(await one.limiter.take(spare, 1));
    expect((await other.limiter.take(spare, 1)).isAllowed).toBe(true);
    await server.revive();
    await waitUntil(() => workers.every(({ shared }) => shared.isUsed));
    expect(await takeAtOnce(workers, createSubject(10), 30)).toBe(10);
  });

  itShared('decides within a bounded time while Redis does not answer, and asks again when it does', async () => {
    const subject = createSubject(1000);
    const hasty = await startProcess(url, { timeoutMs: 200 });
    server.hold();
    const began = performance.now();
    expect(await takeAtOnce([hasty], subject, 50)).toBe(50);
    expect(performance.now() - began).toBeLessThan(5000);
    // From then on nothing waits for Redis.
    expect(hasty.limiter.take(subject, 1)).not.toBeInstanceOf(Promise);
    server.release();
    await waitUntil(() => hasty.limiter.take(subject, 1) instanceof Promise);
    await waitUntil(() => hasty.messages.length >= 2);
    expect(hasty.messages.at(-1)).toMatch(/^info: Redis is used again/);
  });

  itShared('starts without Redis, and uses it as soon as it is there', async () => {
    await server.kill();
    const late = await startProcess(url);
    expect(late.limiter.take(createSubject(1), 1)).toMatchObject({ isAllowed: true });
    expect(late.messages).toHaveLength(1);
    await server.revive();
    await waitUntil(() => late.shared.isUsed);
    expect(await (late.limiter.take(createSubject(1), 1) as Promise<Decision>)).toMatchObject({ isAllowed: true });
  });
});
