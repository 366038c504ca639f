import { describe, expect, it } from '@jest/globals';
import { backoffMs } from './backoff.ts';

const limits = { firstMs: 50, maxMs: 2000 };

describe('backoffMs', () => {
  it('doubles the delay with each failure, from the first delay up to the maximum', () => {
    expect([1, 2, 3, 4, 5, 6, 7, 8].map((failures) => backoffMs(failures, limits))).toEqual([50, 100, 200, 400, 800, 1600, 2000, 2000]);
  });

  it('returns the maximum for any number of failures', () => {
    expect([100, 2000, Number.MAX_SAFE_INTEGER].map((failures) => backoffMs(failures, limits))).toEqual([2000, 2000, 2000]);
  });
});
