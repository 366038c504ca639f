/**
 * The deadline of a mutation: a statement that would start too late is not sent, and a transaction that ends too late is not committed.
 * The same holds when the client has disconnected. So a mutation that the gateway answered with 504 is not carried out afterwards.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

interface Deadline {
  /** In milliseconds of `performance.now()`. */
  readonly startBy: number;
  readonly commitBy: number;
  /** Returns whether the client has disconnected. */
  readonly isAbandoned: () => boolean;
}

const deadlines = new AsyncLocalStorage<Deadline>();

/** How long a mutation may take, in milliseconds from now. */
export interface TimeAllowed {
  /** No statement but COMMIT and ROLLBACK is sent later than this. */
  readonly startMs: number;
  /** No COMMIT is sent later than this. */
  readonly commitMs: number;
}

/**
 * Runs `work` with a deadline for the statements that it sends through the pool of `database.ts`. They are too late also when `isAbandoned`
 * returns that the client has disconnected. Default: it never does.
 */
export function runWithDeadline<T>({ startMs, commitMs }: TimeAllowed, work: () => T, isAbandoned = () => false): T {
  const now = performance.now();
  return deadlines.run({ startBy: now + startMs, commitBy: now + commitMs, isAbandoned }, work);
}

/** Returns whether the current code runs with a deadline, that is, for a mutation. */
export function hasDeadline(): boolean {
  return deadlines.getStore() !== undefined;
}

/** Returns why a statement must not be sent any more: `late` for one that would start too late, `expired` for a COMMIT that comes too late. */
export function lateness(statement: string): 'late' | 'expired' | undefined {
  const deadline = deadlines.getStore();
  if (!deadline || statement === 'ROLLBACK') return undefined;
  const isCommit = statement === 'COMMIT';
  const isLate = performance.now() > (isCommit ? deadline.commitBy : deadline.startBy) || deadline.isAbandoned();
  if (!isLate) return undefined;
  return isCommit ? 'expired' : 'late';
}
