/** Retries help against a lost connection and harm a subgraph that is overwhelmed: there may be one for every ten fetches. No I/O. */

export interface RetryBudget {
  /** Called for every fetch. */
  earn(): void;
  /** Whether one may be retried. */
  take(): boolean;
}

const PER_FETCH = 0.1;
const MOST = 10;

export function createRetryBudget(): RetryBudget {
  let left = MOST;
  return {
    earn() {
      left = Math.min(MOST, left + PER_FETCH);
    },
    take() {
      if (left < 1) return false;
      left--;
      return true;
    },
  };
}
