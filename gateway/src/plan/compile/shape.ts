/** Describes the response keys that an operation selects at each place, for objects of any type. */
import { Kind, type SelectionSetNode } from 'graphql';
import type { Shape } from '../../program/program.ts';

/** An operation with more places than this has no description: the paths of its errors are not checked. */
const MAX_PLACES = 5000;

/** Returns the places of the selections of an operation without fragment spreads, the root first; none when there are too many. */
export function describeShape(root: SelectionSetNode): Shape {
  const numbers = new Map<SelectionSetNode, number>();
  const known = new Map<string, number>();
  const shape: Record<string, number>[] = [];
  const numberOf = (set: SelectionSetNode) => {
    const number = numbers.get(set) ?? numbers.size;
    numbers.set(set, number);
    return number;
  };
  const describe = (sets: readonly SelectionSetNode[]): number => {
    const name = [...new Set(sets.map(numberOf))].sort((a, b) => a - b).join();
    const place = known.get(name);
    if (place !== undefined || shape.length >= MAX_PLACES) return place ?? -1;
    const own: Record<string, number> = Object.create(null) as Record<string, number>;
    const index = shape.push(own) - 1;
    known.set(name, index);
    const below = new Map<string, SelectionSetNode[]>();
    const seen = new Set<SelectionSetNode>();
    const collect = (set: SelectionSetNode) => {
      if (seen.has(set)) return;
      seen.add(set);
      for (const selection of set.selections) {
        if (selection.kind === Kind.FIELD) {
          const key = selection.alias?.value ?? selection.name.value;
          below.set(key, [...(below.get(key) ?? []), ...(selection.selectionSet ? [selection.selectionSet] : [])]);
        } else if (selection.kind === Kind.INLINE_FRAGMENT) collect(selection.selectionSet);
      }
    };
    sets.forEach(collect);
    for (const [key, inner] of below) own[key] = inner.length > 0 ? describe(inner) : -1;
    return index;
  };
  describe([root]);
  return shape.length < MAX_PLACES ? shape : [];
}
