/**
 * Which objects of a result are null because of an error below them, and what the client has of them. An object that one part delivered as
 * null stays null in the parts that follow. One that the client has is not taken back: the fragment fails instead.
 */
import type { Data } from '../../program/program.ts';
import { toResponseKey } from '../../program/response-key.ts';
import type { ErrorPath } from '../../program/result.ts';
import type { Target } from './targets.ts';

/** What the client has. */
export class DeliveredValues {
  /** By the path of their part. Parts of one object have different fields of it. */
  readonly #byPath = new Map<string, unknown[]>();

  /** Adds what a part has delivered at its path. */
  add(path: ErrorPath, value: unknown): void {
    const key = JSON.stringify(path);
    const known = this.#byPath.get(key);
    if (known) known.push(value);
    else this.#byPath.set(key, [value]);
  }

  /** Returns whether the client has an object or a list at the path. */
  has(path: ErrorPath): boolean {
    for (let length = 0; length <= path.length; length++) {
      const below = path.slice(length);
      const values = this.#byPath.get(JSON.stringify(path.slice(0, length))) ?? [];
      if (values.some((value) => isObject(below.reduce(readDelivered, value)))) return true;
    }
    return false;
  }
}

/** A value that is null because of an error below it. */
export interface Nulled {
  readonly object: Data;
  /** From the object. */
  readonly below: ErrorPath;
  /** From the root of the result. */
  readonly path: ErrorPath;
}

/** Returns what a part has as null because of errors, by their paths from the root of the result. */
export function findNulled(value: unknown, { object, path }: Pick<Target, 'object' | 'path'>, errors: readonly ErrorPath[]): Nulled[] {
  return errors.flatMap((error) => {
    if (path.some((segment, i) => error[i] !== segment)) return [];
    const below = error.slice(path.length);
    let at = value;
    for (let length = 0; length <= below.length; length++) {
      if (at === null) return [{ object, below: below.slice(0, length), path: [...path, ...below.slice(0, length)] }];
      at = readDelivered(at, below[length] ?? '');
    }
    return [];
  });
}

/** Makes the value null. Fetches that end later may have brought it again. */
export function setNull({ object, below }: Nulled): void {
  const last = below.at(-1);
  const around = below.slice(0, -1).reduce<unknown>(read, object);
  if (last !== undefined && isObject(around)) around[last] = null;
}

/** Reads from what the client has, which has the client's response keys. */
function readDelivered(value: unknown, key: string | number): unknown {
  return read(value, typeof key === 'string' ? toResponseKey(key) : key);
}

function read(value: unknown, key: string | number): unknown {
  return isObject(value) ? value[key] : undefined;
}

function isObject(value: unknown): value is Data {
  return typeof value === 'object' && value !== null;
}
