import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { WINDOW_MS, createSlidingWindows } from '@trestle/limits/sliding-windows';
import fc from 'fast-check';
import { takeAndGrant } from './grant-units.ts';
import type { FromWorker } from './messages.ts';
import { createPrimaryWindows } from './primary-windows.ts';

const INTERVAL_MS = 100;
/** Enough for a request to the primary and its reply, each in a turn of its own. */
const REPLY_MS = 3;
/** After that a key which is not used has no units granted. */
const UNUSED_MS = 3 * INTERVAL_MS;

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

/** Workers whose messages a primary answers in the next turn. */
function connect(workers: number) {
  const windows = createSlidingWindows({ now: () => performance.now() });
  let messages = 0;
  const sides = Array.from({ length: workers }, () => {
    const side = createPrimaryWindows((message: FromWorker) => {
      messages++;
      if (message.kind === 'refund') windows.refund(message.key, message.units, message.slot);
      if (message.kind !== 'take') return;
      const counts = message.takes.map((take) => takeAndGrant(windows, take));
      setImmediate(side.receive, { kind: 'taken', id: message.id, counts });
    });
    return side.windows;
  });
  return {
    /** Takes one unit. Returns undefined when the primary did not reply. */
    take: async (worker: number, limit: number) => {
      const count = sides[worker]?.take('client', limit, 1);
      if (count instanceof Promise) await jest.advanceTimersByTimeAsync(REPLY_MS);
      return count;
    },
    /** Takes one unit. Returns whether the primary has to be asked for it. */
    asksFor: (worker: number, limit: number) => sides[worker]?.take('client', limit, 1) instanceof Promise,
    countAll: (limit: number) => limit - windows.take('client', limit, 0).remaining,
    countMessages: () => messages,
  };
}

describe('rate limits of several workers', () => {
  it('are counted with few messages for a client with many requests', async () => {
    const { take, countAll, countMessages } = connect(1);
    for (let i = 0; i < 1000; i++) expect(await take(0, 1_000_000)).toMatchObject({ isAllowed: true, remaining: 999_999 - i });
    expect(countMessages()).toBeLessThan(20);
    await jest.advanceTimersByTimeAsync(UNUSED_MS);
    expect(countAll(1_000_000)).toBe(1000);
  });

  it('do not have a client wait for the primary that sends as many requests in each interval', async () => {
    const { asksFor, countAll } = connect(1);
    let asked = 0;
    for (let interval = 0; interval < 20; interval++) {
      if (interval === 2) asked = 0;
      for (let ms = 0; ms < INTERVAL_MS; ms++) {
        if (asksFor(0, 1_000_000)) asked++;
        await jest.advanceTimersByTimeAsync(1);
      }
    }
    expect(asked).toBe(0);
    await jest.advanceTimersByTimeAsync(UNUSED_MS);
    expect(countAll(1_000_000)).toBe(20 * INTERVAL_MS);
  });

  it('are returned when the primary grants no more', async () => {
    const { take, countAll } = connect(1);
    const limit = 1000;
    for (let i = 0; i < limit; i++) {
      expect(await take(0, limit)).toMatchObject({ isAllowed: true });
      if (i % 20 === 0) await jest.advanceTimersByTimeAsync(INTERVAL_MS);
    }
    expect(await take(0, limit)).toMatchObject({ isAllowed: false });
    expect(countAll(limit)).toBe(limit);
  });

  it('are counted with a message for each request of a client with few', async () => {
    const { take, countAll, countMessages } = connect(1);
    for (let i = 0; i < 10; i++) {
      await take(0, 1_000_000);
      await jest.advanceTimersByTimeAsync(INTERVAL_MS / 3);
      expect(countAll(1_000_000)).toBe(i + 1);
    }
    expect(countMessages()).toBe(10);
  });

  it('are never exceeded, and refuse a client at most a 32nd of the limit for each worker too early', async () => {
    const workers = 3;
    const step = fc.record({ worker: fc.nat(workers - 1), times: fc.integer({ min: 1, max: 60 }), pauseMs: fc.nat(INTERVAL_MS) });
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 1500 }), fc.array(step, { maxLength: 40 }), async (limit, steps) => {
        const { take, countAll } = connect(workers);
        const startedAt = performance.now();
        let allowed = 0;
        for (const { worker, times, pauseMs } of steps) {
          for (let i = 0; i < times; i++) {
            const count = await take(worker, limit);
            if (count?.isAllowed === true) allowed++;
            else expect(allowed).toBeGreaterThanOrEqual(limit - workers * (limit / 32));
          }
          await jest.advanceTimersByTimeAsync(pauseMs);
        }
        await jest.advanceTimersByTimeAsync(UNUSED_MS);
        expect(performance.now() - startedAt).toBeLessThan(WINDOW_MS);
        expect(allowed).toBeLessThanOrEqual(limit);
        expect(countAll(limit)).toBe(allowed);
      }),
      { numRuns: 60 },
    );
  });
});
