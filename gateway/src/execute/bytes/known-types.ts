/** Adds the names of types that were not requested because they are known: the object executor needs them. */
import type { KnownType } from '../../program/bytes-program.ts';
import type { Data } from '../../program/program.ts';

/** Sets `__typename` of the objects of a response's data. */
export function addKnownTypes(data: Data, types: readonly KnownType[]): void {
  for (const type of types) add(data, type, 0);
}

function add(value: unknown, known: KnownType, depth: number): void {
  if (Array.isArray(value)) {
    for (const each of value) add(each, known, depth);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  const object = value as Data;
  const segment = known.path[depth];
  if (!segment) object['__typename'] = known.type;
  else if ((segment.on === undefined || object['__typename'] === segment.on) && Object.hasOwn(object, segment.key))
    add(object[segment.key], known, depth + 1);
}
