/**
 * The token generations of accounts, as one request has read them with a record or a login. What a request writes for an account, such as a
 * session or a code, must belong to the generation that it was derived from: a new password ends the records that exist (see the
 * migrations), and must not miss one that a request in flight is about to write.
 */

/** Keeps the generations that one request has read. */
export interface AccountGenerations {
  /** Notes that the request has read an account. The first generation that was read counts. */
  note(accountId: string, generation: number): void;
  /** Returns the generation of an account; undefined when the request has not read it. */
  of(accountId: string): number | undefined;
}

/** Creates it for one request. */
export function createAccountGenerations(): AccountGenerations {
  const generations = new Map<string, number>();
  return {
    note(accountId, generation) {
      if (!generations.has(accountId)) generations.set(accountId, generation);
    },
    of: (accountId) => generations.get(accountId),
  };
}
