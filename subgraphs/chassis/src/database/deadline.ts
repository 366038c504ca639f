/**
 * The time that a mutation has: what is not begun in time is not begun at all, and what is not done by the end is not committed. So a
 * client that was answered 504 by the gateway does not find its change made afterwards.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

interface Deadline {
  /** Milliseconds as `performance.now()` counts them. */
  readonly startBy: number;
  readonly commitBy: number;
}

const deadlines = new AsyncLocalStorage<Deadline>();

/** How long a mutation may take, in milliseconds from now. */
export interface TimeAllowed {
  /** No statement but COMMIT and ROLLBACK is sent later than this. */
  readonly startMs: number;
  /** No COMMIT is sent later than this. */
  readonly commitMs: number;
}

/** Runs `work` under a deadline; statements that it sends through the pool of `database.ts` keep to it. */
export function runWithDeadline<T>({ startMs, commitMs }: TimeAllowed, work: () => T): T {
  const now = performance.now();
  return deadlines.run({ startBy: now + startMs, commitBy: now + commitMs }, work);
}

/** Returns whether a deadline holds here: whether this is the work of a mutation. */
export function hasDeadline(): boolean {
  return deadlines.getStore() !== undefined;
}

/** Returns why a statement must not be sent any more: `late` when it would begin too late, `expired` for a COMMIT after the end. */
export function lateness(statement: string): 'late' | 'expired' | undefined {
  const deadline = deadlines.getStore();
  if (!deadline || statement === 'ROLLBACK') return undefined;
  const now = performance.now();
  if (statement === 'COMMIT') return now > deadline.commitBy ? 'expired' : undefined;
  return now > deadline.startBy ? 'late' : undefined;
}
