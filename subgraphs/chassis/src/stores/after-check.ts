/** Writes whose conditions are read before them. */

/**
 * Resolves with the write when the check succeeds, and otherwise with a write that rejects as the check did. Passed to `write` of the context, a
 * request that fails its check is rejected, while a repetition of a request that succeeded gets the stored result, whatever has changed since (spec §8).
 */
export function afterCheck<Work extends (stores: never) => Promise<unknown>>(
  check: Promise<unknown>,
  work: Work,
): Promise<Work | (() => Promise<never>)> {
  return check.then(
    () => work,
    (error: unknown) => rejectWith(error),
  );
}

/** Returns a write that rejects with the error. */
export function rejectWith(error: unknown): () => Promise<never> {
  return () => {
    throw error;
  };
}
