import { describe, expect, it } from '@jest/globals';
import { type EndedRun, NO_FAILURES, countFailure, toDelay } from './restart-delay.ts';

const delaysOf = (runs: readonly EndedRun[]) => {
  let failures = NO_FAILURES;
  return runs.map((run) => toDelay((failures = countFailure(failures, run))));
};
const times = <T>(count: number, value: T) => Array.from({ length: count }, () => value);

describe('the delay before a restart', () => {
  it('doubles up to 5 s while the process does not become ready', () => {
    expect(delaysOf(times(8, { readyAt: undefined, endedAt: 9000 }))).toEqual([250, 500, 1000, 2000, 4000, 5000, 5000, 5000]);
  });

  it('stays 250 ms for a process that is ready for 3 s in every run', () => {
    expect(delaysOf(times(20, { readyAt: 2000, endedAt: 5000 }))).toEqual(times(20, 250));
  });

  it('is at most 1 s for a process that ends each time soon after it became ready', () => {
    expect(delaysOf(times(20, { readyAt: 2000, endedAt: 2100 })).slice(0, 4)).toEqual([250, 500, 1000, 1000]);
    expect(Math.max(...delaysOf(times(2000, { readyAt: 2000, endedAt: 2100 })))).toBe(1000);
  });

  it('is 250 ms again after a run that was ready for 3 s', () => {
    const failed = { readyAt: undefined, endedAt: 1 };
    expect(delaysOf([failed, failed, failed, { readyAt: 0, endedAt: 10_000 }])).toEqual([250, 500, 1000, 250]);
  });
});
