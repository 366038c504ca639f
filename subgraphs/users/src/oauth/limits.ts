/** Limits of what nobody has to log in for: guesses of user codes, and stored records. */
import { ATTEMPT_LIMITS, createAttemptKeys } from '../login/attempt-limits.ts';
import type { AttemptStore } from '../login/attempt-store.ts';

const MINUTE_MS = 60 * 1000;
const RECORDS_PER_MINUTE = 3000;

/** Counts the wrong user codes of each client, in the database: all processes have one count. */
export interface GuessLimit {
  /**
   * Counts a guess as wrong before it is checked, so that of concurrent guesses no more are checked than the limit allows. Resolves with false, and
   * counts nothing, when the client has to wait.
   */
  claim(client: string): Promise<boolean>;
  /** Takes a guess back that was not wrong. */
  release(client: string): Promise<void>;
}

/** Creates a limit of ten wrong codes in ten minutes for each client. `secret` is what keys of counters are derived from. */
export function createGuessLimit(attempts: Pick<AttemptStore, 'count' | 'release'>, secret: string): GuessLimit {
  const toKey = createAttemptKeys(secret);
  return {
    claim: async (client) => (await attempts.count(toKey('userCode', client), ATTEMPT_LIMITS.userCode)) !== undefined,
    release: (client) => attempts.release(toKey('userCode', client)),
  };
}

/** Returns a function that returns true for at most 3,000 calls in a minute: rows that anybody can have stored by this process stay few. */
export function createRecordLimit(now: () => number = Date.now): () => boolean {
  let minute = 0;
  let count = 0;
  return () => {
    const current = Math.floor(now() / MINUTE_MS);
    if (current !== minute) {
      minute = current;
      count = 0;
    }
    return ++count <= RECORDS_PER_MINUTE;
  };
}
