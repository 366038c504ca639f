/** Finds the objects of a deferred fragment: those on its path that the client has, by what was delivered around it. */
import type { DeferredPart } from '../../program/deferred-program.ts';
import type { Data, PlaceSegment } from '../../program/program.ts';
import { toResponseKey } from '../../program/response-key.ts';
import type { ErrorPath } from '../../program/result.ts';

/** One object of a part. */
export interface Target {
  readonly object: Data;
  /** The same object as the client has it. */
  readonly delivered: unknown;
  /** From the root of the result, with the response keys of fetches. */
  readonly path: ErrorPath;
}

/** Returns the objects of a part below `from`, an object of the part around it, whose path has `skipped` segments. */
export function findTargets({ path, types }: DeferredPart, from: Target, skipped: number): Target[] {
  const segments = path.slice(skipped);
  const found: Target[] = [];
  const walk = ({ object, delivered, path: at }: Found, depth: number): void => {
    if (typeof object !== 'object' || object === null || typeof delivered !== 'object' || delivered === null) return;
    if (Array.isArray(delivered)) {
      if (Array.isArray(object))
        delivered.forEach((each: unknown, i) => {
          walk({ object: object[i], delivered: each, path: [...at, i] }, depth);
        });
      return;
    }
    const segment: PlaceSegment | undefined = segments[depth];
    const allowed = segment ? segment.types : types;
    if (allowed && !allowed.includes((object as Data)['__typename'] as string)) return;
    if (!segment) {
      found.push({ object: object as Data, delivered, path: at });
      return;
    }
    const { key } = segment;
    walk({ object: (object as Data)[key], delivered: (delivered as Data)[toResponseKey(key)], path: [...at, key] }, depth + 1);
  };
  walk(from, 0);
  return found;
}

interface Found {
  readonly object: unknown;
  readonly delivered: unknown;
  readonly path: ErrorPath;
}
