/** Parses JSON that comes from outside the process. The nesting is limited, so that recursive code behind it cannot overflow the stack. */
import { isDeeperThan } from '@trestle/service/messages/json-depth';

/** Levels of nested objects and lists. `JSON.stringify` and our recursive code handle some thousands. */
export const MAX_JSON_DEPTH = 256;

/** Thrown by {@link parseJson} for a value that is nested deeper than {@link MAX_JSON_DEPTH}. */
export class JsonTooDeep extends Error {
  constructor() {
    super(`is nested deeper than the limit of ${String(MAX_JSON_DEPTH)} levels`);
  }
}

/** Returns the value of a JSON text. Throws SyntaxError for invalid JSON (RFC 8259), {@link JsonTooDeep} for JSON that is nested too deep. */
export function parseJson(text: string): unknown {
  // V8's parser does not recurse: no depth overflows the stack here.
  const value = JSON.parse(text) as unknown;
  if (isDeeperThan(value, MAX_JSON_DEPTH)) throw new JsonTooDeep();
  return value;
}

/** Returns whether a value is an object of JSON: neither null nor a list. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the object that a JSON text has; undefined for every other text. */
export function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Freezes the objects and lists of a value of JSON, which is nested at most {@link MAX_JSON_DEPTH} levels deep. What is no JSON, such as a file, stays as it is. */
export function freezeJson<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  if (!Array.isArray(value) && !isPlain(value)) return value;
  for (const each of Object.values(value)) freezeJson<unknown>(each);
  return Object.freeze(value);
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
