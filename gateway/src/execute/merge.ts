/** Merges the result of a fetch into the data of an operation. Objects are moved, not copied: each result belongs to one operation. */
import type { Data, KeyRename, RenameSegment } from '../program/program.ts';

/** Merges `source` into `target`, deeply. */
export function merge(target: Data, source: Data): void {
  for (const key in source) {
    const next = source[key];
    if (next === undefined) continue;
    const now = Object.hasOwn(target, key) ? target[key] : undefined;
    if (isObject(now) && isObject(next)) mergeObjects(target, { key, now, next });
    else if (key === '__proto__') Object.defineProperty(target, key, { value: next, writable: true, enumerable: true, configurable: true });
    else target[key] = next;
  }
}

function mergeObjects(target: Data, { key, now, next }: { key: string; now: object; next: object }): void {
  if (now === next) return;
  if (!Array.isArray(now) && !Array.isArray(next)) merge(now as Data, next as Data);
  else if (Array.isArray(now) && Array.isArray(next) && now.length === next.length) mergeLists(now, next);
  else target[key] = next;
}

function mergeLists(target: unknown[], source: readonly unknown[]): void {
  source.forEach((next, i) => {
    const now = target[i];
    if (!isObject(now) || !isObject(next)) target[i] = next;
    else if (Array.isArray(now) && Array.isArray(next)) mergeLists(now, next);
    else if (!Array.isArray(now) && !Array.isArray(next)) merge(now as Data, next as Data);
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
