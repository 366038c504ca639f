/**
 * Runs a single write of a mutation in a transaction of its own. A PostgreSQL server that was suspended reads its socket when it resumes:
 * it would then carry out a bare statement long after the gateway answered 504, but it rolls back a transaction without COMMIT.
 */

/** Sends one statement and resolves with its result. */
export type Send = (...args: readonly unknown[]) => Promise<unknown>;

const BEGIN = /^\s*(?:BEGIN|START)\b/i;
/** Not `ROLLBACK TO` a savepoint. */
const END = /^\s*(?:COMMIT|ROLLBACK|END|ABORT)\b(?!\s+TO\b)/i;
/** A `WITH` may write as well. */
const READ = /^\s*(?:SELECT|SHOW)\b/i;

/** Tracks whether one connection is in a transaction, by the statements that are sent on it, in their order. */
export class TransactionState {
  #isOpen = false;

  /** Records a statement. Returns whether it is a write outside of any transaction. */
  isBareWrite(text: string): boolean {
    if (BEGIN.test(text)) this.#isOpen = true;
    else if (END.test(text)) this.#isOpen = false;
    else return !this.#isOpen && !READ.test(text);
    return false;
  }
}

/** Runs the statement in a transaction. It is rolled back after an error, and when `checkCommit` throws because it must not be committed. */
export async function runInTransaction(
  send: Send,
  { args, checkCommit }: { args: readonly unknown[]; checkCommit: () => void },
): Promise<unknown> {
  await send('BEGIN');
  try {
    const result = await send(...args);
    checkCommit();
    await send('COMMIT');
    return result;
  } catch (error) {
    // A connection that was closed accepts no more statements; its transaction ends with it.
    await send('ROLLBACK').catch(() => undefined);
    throw error;
  }
}
