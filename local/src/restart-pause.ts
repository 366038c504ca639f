/** Decides how long to wait before a process that ended is started again. Pure: no clock, no I/O. */

/** One run of a process; times in milliseconds since the epoch. */
export interface EndedRun {
  /** When it could serve; undefined when it never could. */
  readyAt: number | undefined;
  endedAt: number;
}

/** What is remembered of the failed runs in a row. */
export interface Failures {
  readonly count: number;
  readonly wasReady: boolean;
}

export const NO_FAILURES: Failures = { count: 0, wasReady: false };

const FIRST_PAUSE_MS = 250;
/** A run that served for this long did not fail: the next pause is the shortest. */
const STABLE_MS = 3000;
/** A process that does not become ready may wait for something that takes time, or will never start. */
const MAX_PAUSE_MS = 5000;
/** A process that became ready can serve, so that it is worth starting soon even when it was killed several times in a row. */
const MAX_PAUSE_AFTER_READY_MS = 1000;

/** Returns the failures in a row after a run ended: only a run that never became ready, or ended within `STABLE_MS` of it, counts as failed. */
export function countFailure(before: Failures, { readyAt, endedAt }: EndedRun): Failures {
  const wasReady = readyAt !== undefined;
  if (wasReady && endedAt - readyAt >= STABLE_MS) return { count: 1, wasReady };
  return { count: before.count + 1, wasReady };
}

/** Returns the pause in milliseconds: 250 at first, twice as long after each failure, at most 1 s after a run that was ready and 5 s after others. */
export function toPause({ count, wasReady }: Failures): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** (count - 1), wasReady ? MAX_PAUSE_AFTER_READY_MS : MAX_PAUSE_MS);
}
