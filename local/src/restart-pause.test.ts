import { describe, expect, it } from '@jest/globals';
import { type EndedRun, NO_FAILURES, countFailure, toPause } from './restart-pause.ts';

const pausesOf = (runs: readonly EndedRun[]) => {
  let failures = NO_FAILURES;
  return runs.map((run) => toPause((failures = countFailure(failures, run))));
};
const times = <T>(count: number, value: T) => Array.from({ length: count }, () => value);

describe('the pause before a process is started again', () => {
  it('doubles up to 5 s while the process never becomes ready', () => {
    expect(pausesOf(times(8, { readyAt: undefined, endedAt: 9000 }))).toEqual([250, 500, 1000, 2000, 4000, 5000, 5000, 5000]);
  });

  it('stays the shortest, however often, for a process that served for some seconds', () => {
    expect(pausesOf(times(20, { readyAt: 2000, endedAt: 5000 }))).toEqual(times(20, 250));
  });

  it('is at most 1 s for a process that ends each time soon after it became ready', () => {
    expect(pausesOf(times(20, { readyAt: 2000, endedAt: 2100 })).slice(0, 4)).toEqual([250, 500, 1000, 1000]);
    expect(Math.max(...pausesOf(times(2000, { readyAt: 2000, endedAt: 2100 })))).toBe(1000);
  });

  it('is the shortest again after a run that served', () => {
    const failed = { readyAt: undefined, endedAt: 1 };
    expect(pausesOf([failed, failed, failed, { readyAt: 0, endedAt: 10_000 }])).toEqual([250, 500, 1000, 250]);
  });
});
