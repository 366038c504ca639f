/** Reads JSON that comes from outside of the process. Its nesting is limited, so that nothing recursive behind it overflows the stack. */

/** Levels of objects and lists in each other. `JSON.stringify` and code that follows a value by recursion take some thousands. */
export const MAX_JSON_DEPTH = 256;

/** What {@link parseJson} throws for a value that is nested deeper than {@link MAX_JSON_DEPTH}. */
export class JsonTooDeep extends Error {
  constructor() {
    super(`is nested deeper than the limit of ${String(MAX_JSON_DEPTH)} levels`);
  }
}

/** Returns the value of a JSON text. Throws SyntaxError for what is not JSON (RFC 8259), {@link JsonTooDeep} for what is nested too deep. */
export function parseJson(text: string): unknown {
  // V8's parser keeps a stack of its own: no depth overflows the process's.
  const value = JSON.parse(text) as unknown;
  if (isDeeperThan(value, MAX_JSON_DEPTH)) throw new JsonTooDeep();
  return value;
}

/** Whether objects and lists stand in each other in more than `limit` levels. Recurses at most `limit` times, whatever the value is. */
export function isDeeperThan(value: unknown, limit: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (limit === 0) return true;
  if (Array.isArray(value)) return value.some((each) => isDeeperThan(each, limit - 1));
  for (const name in value) if (isDeeperThan((value as Record<string, unknown>)[name], limit - 1)) return true;
  return false;
}
