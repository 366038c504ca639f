import { describe, expect, it } from '@jest/globals';
import { type EndedRun, NO_FAILURES, countFailure, toDelay } from './restart-delay.ts';

const delaysOf = (runs: readonly EndedRun[]) => {
  let failures = NO_FAILURES;
  return runs.map((run) => toDelay((failures = countFailure(failures, run))));
};
const times = <T>(count: number, value: T) => Array.from({ length: count }, () => value);

describe('the delay before a restart', () => {
  it('doubles up to 5 s while the process does not become ready', () => {
    expect(delaysOf(times(8, { readyAt: undefined, endedAt: 9000 }))).toEqual([100, 200, 400, 800, 1600, 3200, 5000, 5000]);
  });

  it('stays 100 ms for a process that is ready for 1 s in every run', () => {
    expect(delaysOf(times(20, { readyAt: 2000, endedAt: 3000 }))).toEqual(times(20, 100));
  });

  it('is at most 500 ms for a process that ends each time soon after it became ready', () => {
    expect(delaysOf(times(20, { readyAt: 2000, endedAt: 2100 })).slice(0, 4)).toEqual([100, 200, 400, 500]);
    expect(Math.max(...delaysOf(times(2000, { readyAt: 2000, endedAt: 2100 })))).toBe(500);
  });

  it('is 100 ms again after a run that was ready for 1 s', () => {
    const failed = { readyAt: undefined, endedAt: 1 };
    expect(delaysOf([failed, failed, failed, { readyAt: 0, endedAt: 10_000 }])).toEqual([100, 200, 400, 100]);
  });
});
