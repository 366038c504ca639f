import { describe, expect, it } from '@jest/globals';
import { InFlightLimit, type Load } from './in-flight-limit.ts';

const IDLE: Load = { isBusy: false, intervals: 1, hasWaiting: false, isShared: true, inFlight: 0 };

function begin(inFlight: number): InFlightLimit {
  const limit = new InFlightLimit({ initial: 16, least: 2 });
  limit.begin(inFlight);
  return limit;
}

describe('the limit of requests in flight', () => {
  it.each([
    [1, 8],
    [2, 4],
    [3, 2],
    [30, 2],
  ])('after %i busy intervals is %i', (intervals, expected) => {
    const limit = begin(16);
    limit.adapt({ ...IDLE, isBusy: true, intervals, hasWaiting: true, inFlight: 16 });
    expect(limit.value).toBe(expected);
  });

  it('grows again by steps to its first value, and beyond it only while requests wait', () => {
    const limit = begin(16);
    limit.adapt({ ...IDLE, isBusy: true, intervals: 10 });
    const grow = (load: Partial<Load>) => {
      limit.adapt({ ...IDLE, ...load });
      return limit.value;
    };
    const values = Array.from({ length: 11 }, () => grow({}));
    expect(values).toEqual([3, 4, 5, 6, 7, 8, 10, 12, 15, 16, 16]);
    expect([grow({ hasWaiting: true }), grow({ hasWaiting: true })]).toEqual([20, 25]);
    expect(grow({})).toBe(16);
  });

  it('ends when the clients are gone and nothing waits', () => {
    const limit = begin(16);
    limit.adapt({ ...IDLE, isShared: false });
    expect(limit.value).toBe(Infinity);
  });
});
