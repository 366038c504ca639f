/** Limits retries to a share of the fetches: they help against a lost connection and harm an overloaded subgraph. No I/O. */
import { DEFAULT_TRAFFIC } from './traffic-settings.ts';

export interface RetryBudget {
  /** Adds the share of one request. Called for each request to the subgraph, also for a retry. */
  earn(): void;
  /** Returns whether a fetch may be retried, and counts the retry. */
  take(): boolean;
}

const MAX_RETRIES = 10;

/** Creates a budget of this many retries for 100 fetches. It starts with ten retries, unless none are allowed. */
export function createRetryBudget(retryPercent = DEFAULT_TRAFFIC.retryPercent): RetryBudget {
  let left = retryPercent === 0 ? 0 : MAX_RETRIES;
  return {
    earn() {
      left = Math.min(MAX_RETRIES, left + retryPercent / 100);
    },
    take() {
      if (left < 1) return false;
      left--;
      return true;
    },
  };
}
