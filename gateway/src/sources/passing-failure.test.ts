import { expect, it } from '@jest/globals';
import { PlannerUnavailable } from '../plan/threads/planner-unavailable.ts';
import { toRetryDelayMs } from './passing-failure.ts';

it('toRetryDelayMs returns a delay for the first failures that may pass, and none for others', () => {
  const unavailable = new PlannerUnavailable('no memory');
  expect([1, 2, 9, 10].map((failures) => toRetryDelayMs(unavailable, failures))).toEqual([1000, 2000, 60_000, undefined]);
  expect(toRetryDelayMs(new Error('not valid'), 1)).toBeUndefined();
});
