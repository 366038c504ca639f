/**
 * The stock engine confuses the arguments of a field that a client and `@requires`, or several `@requires`, select with different arguments. Such
 * operations are compared in parts, each with one set of arguments.
 */
import { type DocumentNode, Kind, print, visit } from 'graphql';
import type { Requirement } from './supergraph.ts';

/** Returns the operation's parts; none when no field in it has different arguments. */
export function splitByArguments(document: DocumentNode, requirements: readonly Requirement[]): DocumentNode[] {
  const asked = new Map<string, Set<string>>();
  const names = new Set<string>();
  const add = (field: string, args: string) => asked.set(field, (asked.get(field) ?? new Set()).add(args));
  visit(document, {
    Field: ({ name, arguments: given = [] }) => {
      names.add(name.value);
      add(name.value, given.length === 0 ? '' : `(${given.map(print).join(', ')})`);
    },
  });
  const used = requirements.filter(({ computed }) => names.has(computed));
  for (const { field, args } of used) add(field, args);
  const confused = used.filter(({ field }) => (asked.get(field)?.size ?? 0) > 1);
  if (confused.length === 0) return [];
  const fields = confused.map(({ field }) => field);
  const computed = [...new Set(confused.map((each) => each.computed))];
  return [
    without(document, computed),
    ...computed.map((one) => without(document, [...fields, ...computed.filter((other) => other !== one)])),
  ];
}

function without(document: DocumentNode, names: readonly string[]): DocumentNode {
  return visit(document, {
    Field: ({ name }) => (names.includes(name.value) ? null : undefined),
    SelectionSet: {
      leave: (set) =>
        set.selections.length > 0
          ? undefined
          : { ...set, selections: [{ kind: Kind.FIELD, name: { kind: Kind.NAME, value: '__typename' } }] },
    },
  });
}

/** Whether two responses are equal where neither is null: a null may come from a field that only one of the operations selects. */
export function agree(a: unknown, b: unknown): boolean {
  if (a === null || b === null || a === undefined || b === undefined) return true;
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((each, i) => agree(each, b[i]));
  if (typeof a !== 'object' || typeof b !== 'object') return a === b;
  const other = b as Record<string, unknown>;
  return Object.entries(a).every(([key, value]) => agree(value, other[key]));
}
