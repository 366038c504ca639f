/**
 * Runs a single write of a mutation in a transaction of its own. A server that stands still reads what waits in its socket when it goes on:
 * a bare statement would then be carried out long after its client was answered 504, and a transaction without COMMIT is rolled back.
 */

/** Sends one statement; resolves with its result. */
export type Send = (...args: readonly unknown[]) => Promise<unknown>;

const BEGIN = /^\s*(?:BEGIN|START)\b/i;
/** Not `ROLLBACK TO` a savepoint. */
const END = /^\s*(?:COMMIT|ROLLBACK|END|ABORT)\b(?!\s+TO\b)/i;
/** A `WITH` may write as well. */
const READ = /^\s*(?:SELECT|SHOW)\b/i;

/** Knows whether one connection is in a transaction, by the statements that it is given in their order. */
export class TransactionState {
  #isOpen = false;

  /** Notes a statement. Returns whether it is a write outside of any transaction. */
  isBareWrite(text: string): boolean {
    if (BEGIN.test(text)) this.#isOpen = true;
    else if (END.test(text)) this.#isOpen = false;
    else return !this.#isOpen && !READ.test(text);
    return false;
  }
}

/** Runs the statement in a transaction. `checkCommit` throws when it must not be committed any more; then, and after an error, it is rolled back. */
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
    // A connection that was given up takes no more statements; its transaction ends with it.
    await send('ROLLBACK').catch(() => undefined);
    throw error;
  }
}
