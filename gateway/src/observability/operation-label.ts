/** How an operation is named in logs, metrics and traces. */

const MAX_CHARACTERS = 64;

/**
 * Returns the operation's name, cut to 64 characters with `…` for the rest: clients choose it, and it is kept for every status and bucket of a metric.
 * The names of a document are ASCII (GraphQL §2.1.9).
 */
export function toOperationLabel(name: string | undefined): string | undefined {
  return name === undefined || name.length <= MAX_CHARACTERS ? name : `${name.slice(0, MAX_CHARACTERS - 1)}…`;
}
