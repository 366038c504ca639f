/** Limits of what nobody has to log in for: guesses of user codes, and stored records. No I/O. */

const TEN_MINUTES_MS = 10 * 60 * 1000;
/** 25 billion codes and ten guesses: RFC 8628 §5.1. */
const WRONG_CODES = 10;
const MAX_CLIENTS = 10_000;
const MINUTE_MS = 60 * 1000;
const RECORDS_PER_MINUTE = 3000;

/** Counts the wrong user codes of each client. */
export interface GuessLimit {
  /** Returns whether the client may try another code. */
  mayTry(client: string): boolean;
  /** Counts a wrong code. */
  count(client: string): void;
}

/** Creates a limit of ten wrong codes in ten minutes for each client. */
export function createGuessLimit(now: () => number = Date.now): GuessLimit {
  const clients = new Map<string, { wrong: number; readonly until: number }>();
  const find = (client: string) => {
    const found = clients.get(client);
    return found && found.until > now() ? found : undefined;
  };
  return {
    mayTry: (client) => (find(client)?.wrong ?? 0) < WRONG_CODES,
    count(client) {
      const found = find(client);
      if (found) {
        found.wrong++;
        return;
      }
      clients.delete(client);
      // The oldest is forgotten first.
      if (clients.size >= MAX_CLIENTS) clients.delete(clients.keys().next().value ?? '');
      clients.set(client, { wrong: 1, until: now() + TEN_MINUTES_MS });
    },
  };
}

/** Returns a function that returns true for at most 3,000 calls in a minute: rows that anybody can have stored stay few. */
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
