/**
 * The deadline of a mutation: a statement that would start too late is not sent, and a transaction that ends too late is not committed.
 * So a mutation that the gateway answered with 504 is not carried out afterwards.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

interface Deadline {
  /** In milliseconds of `performance.now()`. */
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

/** Runs `work` with a deadline for the statements that it sends through the pool of `database.ts`. */
export function runWithDeadline<T>({ startMs, commitMs }: TimeAllowed, work: () => T): T {
  const now = performance.now();
  return deadlines.run({ startBy: now + startMs, commitBy: now + commitMs }, work);
}

/** Returns whether the current code runs with a deadline, that is, for a mutation. */
export function hasDeadline(): boolean {
  return deadlines.getStore() !== undefined;
}

/** Returns why a statement must not be sent any more: `late` for one that would start too late, `expired` for a COMMIT that comes too late. */
export function lateness(statement: string): 'late' | 'expired' | undefined {
  const deadline = deadlines.getStore();
  if (!deadline || statement === 'ROLLBACK') return undefined;
  const now = performance.now();
  if (statement === 'COMMIT') return now > deadline.commitBy ? 'expired' : undefined;
  return now > deadline.startBy ? 'late' : undefined;
}
