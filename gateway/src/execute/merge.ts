/** Merges the result of a fetch into the data of an operation. Objects are moved, not copied: each result belongs to one operation. */
import type { KeyRename, RenameSegment } from '../program/key-rename.ts';
import type { Data } from '../program/program.ts';

/**
 * Merges `source` into `target`, deeply. With `interfaces`, the names of interfaces, what several parts of an operation fetch of one object is merged
 * in any order: null does not replace a value, nor the name of an interface that of a type.
 */
export function merge(target: Data, source: Data, interfaces?: readonly string[]): void {
  for (const key in source) {
    const next = source[key];
    if (next === undefined) continue;
    const now = Object.hasOwn(target, key) ? target[key] : undefined;
    if (isObject(now) && isObject(next)) mergeObjects(target, { key, now, next, interfaces });
    else if (interfaces && hasMore(now, next, key === '__typename' ? interfaces : NONE)) continue;
    else if (key === '__proto__') Object.defineProperty(target, key, { value: next, writable: true, enumerable: true, configurable: true });
    else target[key] = next;
  }
}

interface Overlap {
  readonly key: string;
  readonly now: object;
  readonly next: object;
  readonly interfaces: readonly string[] | undefined;
}

function mergeObjects(target: Data, { key, now, next, interfaces }: Overlap): void {
  if (now === next) return;
  if (!Array.isArray(now) && !Array.isArray(next)) merge(now as Data, next as Data, interfaces);
  else if (Array.isArray(now) && Array.isArray(next) && now.length === next.length) mergeLists(now, next, interfaces);
  else target[key] = next;
}

const NONE: readonly string[] = [];

/** Whether a value is to stay: the other one is null, or the name of an interface in the place of a type. */
function hasMore(now: unknown, next: unknown, interfaces: readonly string[]): boolean {
  if (now === undefined || now === null) return false;
  return next === null || (typeof now === 'string' && interfaces.includes(next as string) && !interfaces.includes(now));
}

function mergeLists(target: unknown[], source: readonly unknown[], interfaces: readonly string[] | undefined): void {
  source.forEach((next, i) => {
    const now = target[i];
    if (interfaces && hasMore(now, next, NONE)) return;
    if (!isObject(now) || !isObject(next)) target[i] = next;
    else if (Array.isArray(now) && Array.isArray(next)) mergeLists(now, next, interfaces);
    else if (!Array.isArray(now) && !Array.isArray(next)) merge(now as Data, next as Data, interfaces);
    else target[i] = next;
  });
}

/** Applies an output rewrite of the planner to the result of a fetch. */
export function rename(value: unknown, { path, to }: KeyRename, depth = 0): void {
  if (Array.isArray(value)) {
    for (const each of value) rename(each, { path, to }, depth);
    return;
  }
  if (!isObject(value)) return;
  const object = value as Data;
  const segment = path[depth] as RenameSegment;
  if ('types' in segment) {
    const type = object['__typename'];
    if (type === undefined || segment.types.includes(type as string)) rename(object, { path, to }, depth + 1);
  } else if (depth < path.length - 1) rename(object[segment.key], { path, to }, depth + 1);
  else if (Object.hasOwn(object, segment.key)) {
    object[to] = object[segment.key];
    object[segment.key] = undefined;
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
