/** Limits retries to one for every ten fetches: retries help against a lost connection and harm an overloaded subgraph. No I/O. */

export interface RetryBudget {
  /** Called for every fetch. */
  earn(): void;
  /** Returns whether a fetch may be retried, and counts the retry. */
  take(): boolean;
}

const RETRIES_PER_FETCH = 0.1;
const MAX_RETRIES = 10;

/** Creates a budget that starts with ten retries. */
export function createRetryBudget(): RetryBudget {
  let left = MAX_RETRIES;
  return {
    earn() {
      left = Math.min(MAX_RETRIES, left + RETRIES_PER_FETCH);
    },
    take() {
      if (left < 1) return false;
      left--;
      return true;
    },
  };
}
