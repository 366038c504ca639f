import { beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type SlidingWindows, WINDOW_MS, createSlidingWindows } from './sliding-windows.ts';

let now = 0;
let windows: SlidingWindows;
beforeEach(() => {
  now = 1_000_000;
  windows = createSlidingWindows({ now: () => now });
});
const take = (units = 1, limit = 3, key = 'a') => windows.take(key, limit, units);

describe('take', () => {
  it('allows as many units as the limit in one minute, and no more', () => {
    expect([1, 2, 3, 4].map(() => take())).toMatchObject([
      { isAllowed: true, remaining: 2 },
      { isAllowed: true, remaining: 1 },
      { isAllowed: true, remaining: 0 },
      { isAllowed: false, remaining: 0 },
    ]);
  });

  it('gives each unit back one minute after it was taken', () => {
    take();
    now += 30_000;
    take(2);
    now += 29_999;
    expect(take()).toMatchObject({ isAllowed: false, retryMs: 1, resetMs: 1 });
    now += 1;
    expect(take()).toMatchObject({ isAllowed: true, remaining: 0 });
    expect(take()).toMatchObject({ isAllowed: false, retryMs: 30_000 });
  });

  it('does not count what it refuses', () => {
    take(3);
    for (let i = 0; i < 100; i++) take();
    now += WINDOW_MS;
    expect(take(3).isAllowed).toBe(true);
  });

  it('takes all units or none', () => {
    take(2);
    expect(take(2)).toMatchObject({ isAllowed: false, remaining: 1, retryMs: WINDOW_MS });
    expect(take(1)).toMatchObject({ isAllowed: true, remaining: 0 });
  });

  it('counts each key alone', () => {
    take(3);
    expect(take(3, 3, 'b').isAllowed).toBe(true);
  });

  it('only reads the count when it takes 0 units, and keeps nothing for a key that was never used', () => {
    expect(take(0)).toMatchObject({ isAllowed: true, remaining: 3, resetMs: 0 });
    expect(windows.size).toBe(0);
    take(3);
    expect(take(0)).toMatchObject({ isAllowed: true, remaining: 0, resetMs: WINDOW_MS });
  });

  it('applies another limit of the same key at once', () => {
    take(3);
    expect(take(1, 5)).toMatchObject({ isAllowed: true, remaining: 1 });
    expect(take(1, 2)).toMatchObject({ isAllowed: false, remaining: 0 });
  });

  it('never allows more than the limit in any minute, whatever the times and units, and gives all back after one', () => {
    const steps = fc.array(fc.record({ pauseMs: fc.nat(20_000), units: fc.integer({ min: 1, max: 4 }) }), { maxLength: 60 });
    fc.assert(
      fc.property(steps, (all) => {
        const own = createSlidingWindows({ now: () => now });
        const taken: { at: number; units: number }[] = [];
        const within = (lateMs = 0) => taken.filter(({ at }) => at + WINDOW_MS + lateMs > now).reduce((sum, { units }) => sum + units, 0);
        for (const { pauseMs, units } of all) {
          now += pauseMs;
          const { isAllowed, retryMs } = own.take('a', 5, units);
          if (isAllowed) taken.push({ at: now, units });
          expect(within()).toBeLessThanOrEqual(5);
          // A unit comes back late by the resolution at most.
          if (!isAllowed) expect(within(100) + units).toBeGreaterThan(5);
          expect(retryMs).toBeLessThanOrEqual(WINDOW_MS);
        }
        now += WINDOW_MS;
        expect(own.take('a', 5, 5).isAllowed).toBe(true);
      }),
      { numRuns: 100 },
    );
  });

  it('accepts a refused request again after `retryMs`', () => {
    for (let i = 0; i < 3; i++) {
      take();
      now += 7000;
    }
    const { retryMs } = take(2);
    now += retryMs - 1;
    expect(take(2).isAllowed).toBe(false);
    now += 1;
    expect(take(2).isAllowed).toBe(true);
  });
});

describe('refund', () => {
  it('gives back the units that were taken at that time, not older ones', () => {
    const first = take();
    now += 30_000;
    take(2);
    windows.refund('a', 1, first.slot);
    expect(take(0)).toMatchObject({ remaining: 1 });
    now += 30_000;
    // The first unit would have left the window now.
    expect(take(0)).toMatchObject({ remaining: 1 });
    now += 30_000;
    expect(take(0)).toMatchObject({ remaining: 3 });
  });

  it('gives back no more than was taken, and nothing of an unknown key or time', () => {
    const { slot } = take();
    windows.refund('a', 100, slot);
    windows.refund('b', 1, slot);
    windows.refund('a', 1, slot - 1);
    windows.refund('a', 1, slot + 1);
    expect(take(0)).toMatchObject({ remaining: 3 });
  });
});

describe('memory', () => {
  const MAX_BYTES = 1024 * 1024;

  it('stays within the limit, whatever the number of keys', () => {
    windows = createSlidingWindows({ now: () => now, maxBytes: MAX_BYTES });
    let most = 0;
    for (let i = 0; i < 50_000; i++) {
      now += i % 3;
      take(1, 3, `key ${String(i)}`);
      most = Math.max(most, windows.bytes);
    }
    expect(most).toBeLessThanOrEqual(MAX_BYTES);
    expect(windows.size).toBeGreaterThan(1000);
  });

  it('forgets a window that was used up only after all those that were used less', () => {
    windows = createSlidingWindows({ now: () => now, maxBytes: MAX_BYTES });
    take(100, 100, 'attacker');
    for (let i = 0; i < 50_000; i++) take(1, 100, `address ${String(i)}`);
    expect(take(1, 100, 'attacker').isAllowed).toBe(false);
  });

  it('keeps nothing of keys that were not used for a minute', () => {
    for (let i = 0; i < 1000; i++) take(1, 3, `key ${String(i)}`);
    now += WINDOW_MS;
    for (let i = 0; i < 1000; i++) take(1, 3, 'a');
    expect(windows.size).toBe(1);
    now += WINDOW_MS;
    take(0);
    expect([windows.size, windows.bytes]).toEqual([0, 0]);
  });

  it('bounds the entries of one key, however high its limit', () => {
    for (let i = 0; i < 120_000; i++) {
      now += 1;
      take(1, 1e9);
    }
    expect(windows.bytes).toBeLessThan(64 * 1024);
  });
});
