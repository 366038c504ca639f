/** The outcome of a result in parts, which is known with its last response. */
import type { OperationResult, Outcome } from './operation.ts';

/**
 * Calls `notify` once with the outcome of the whole: at once, or before the last response is passed on. Returns what takes the place of the result.
 */
export function withOutcome<Result extends Pick<OperationResult, 'outcome' | 'rest'>>(
  result: Result,
  notify: (outcome: Outcome) => void,
): Result {
  const { outcome, rest } = result;
  if (!rest) {
    notify(outcome);
    return result;
  }
  return {
    ...result,
    rest: (send) => {
      rest((bytes, end) => {
        if (end) notify(end);
        send(bytes, end);
      });
    },
  };
}
