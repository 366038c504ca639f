/** The name of an operation in logs, metrics and traces. */

const MAX_CHARACTERS = 64;

/**
 * Returns the operation's name, cut to 64 characters with a final `…`: clients choose names, and metrics keep them for every status and bucket.
 * Names in a document are ASCII (GraphQL §2.1.9).
 */
export function toOperationLabel(name: string | undefined): string | undefined {
  return name === undefined || name.length <= MAX_CHARACTERS ? name : `${name.slice(0, MAX_CHARACTERS - 1)}…`;
}
