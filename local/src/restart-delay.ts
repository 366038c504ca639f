/** Computes the delay before a process that ended is started again. No clock, no I/O. */
import { backoffMs } from '@trestle/service/process/backoff';

/** Describes one run of a process. Times are milliseconds since the epoch. */
export interface EndedRun {
  /** When the process became ready; undefined when it never did. */
  readyAt: number | undefined;
  endedAt: number;
}

/** Counts the failed runs in a row. */
export interface Failures {
  readonly count: number;
  /** Whether the last run became ready. */
  readonly wasReady: boolean;
}

/** Counts no failed run. */
export const NO_FAILURES: Failures = { count: 0, wasReady: false };

const FIRST_DELAY_MS = 100;
/** A run that was ready for this long did not fail: the next delay is the shortest. */
const STABLE_MS = 1000;
/** A process that does not become ready may wait for something slow, or may never start. */
const MAX_DELAY_MS = 5000;
/** A process that became ready can serve, so it is restarted soon even when it was killed several times in a row. */
const MAX_DELAY_AFTER_READY_MS = 500;

/** Returns the failures in a row after a run. A run failed when it never became ready, or ended within 1 s of becoming ready. */
export function countFailure(before: Failures, { readyAt, endedAt }: EndedRun): Failures {
  const wasReady = readyAt !== undefined;
  if (wasReady && endedAt - readyAt >= STABLE_MS) return { count: 1, wasReady };
  return { count: before.count + 1, wasReady };
}

/** Returns the delay in milliseconds: 100 at first, doubled after each failure, at most 500 after a run that became ready and 5,000 after others. */
export function toDelay({ count, wasReady }: Failures): number {
  return backoffMs(count, { firstMs: FIRST_DELAY_MS, maxMs: wasReady ? MAX_DELAY_AFTER_READY_MS : MAX_DELAY_MS });
}
