/** Collects what the entity fetches of a plan require, by path and type of the objects. */
import type { QueryPlanSelectionNode } from '@apollo/query-planner';
import type { GraphQLSchema } from 'graphql';
import { typesOf } from './type-names.ts';
import type { TypedFetch } from './typed-fetch.ts';

/** Paths of the fields that fetches require, each with the types of the objects that have the field; undefined for all types. */
export type RequiredPaths = Map<string, Set<string> | undefined>;

/** Adds what one fetch requires; `path` are the response keys that lead to its objects. */
export function addRequired(
  required: RequiredPaths,
  { requires = [], onlyFor }: TypedFetch,
  { path, schema }: { path: readonly string[]; schema: GraphQLSchema },
): void {
  const add = (selections: readonly QueryPlanSelectionNode[], at: readonly string[], types: readonly string[] | undefined) => {
    for (const each of selections) {
      if (each.kind === 'InlineFragment') {
        const isOwn = at.length === path.length && each.typeCondition !== undefined;
        const own = isOwn ? typesOf(schema, each.typeCondition).filter((name) => onlyFor?.has(name) ?? true) : types;
        add(each.selections, at, own);
        continue;
      }
      const below = [...at, each.alias ?? each.name];
      const text = below.join('.');
      const known = required.get(text);
      required.set(text, (required.has(text) && !known) || !types ? undefined : new Set([...(known ?? []), ...types]));
      add(each.selections ?? [], below, undefined);
    }
  };
  add(requires, path, onlyFor && [...onlyFor]);
}

/** Returns the response keys of a path as the planner writes it, without elements of lists and types. */
export function keysOf(path: readonly string[]): string[] {
  return path.map((segment) => segment.replace(/\|.*/, '')).filter((key) => key !== '@' && key !== '');
}

/** Returns the names that a fetch's response keys get afterwards, where they get others. */
export function renamedKeys({ outputRewrites = [] }: TypedFetch): ReadonlyMap<string, string> {
  return new Map(outputRewrites.flatMap((each) => (each.kind === 'KeyRenamer' ? [[each.path.at(-1) ?? '', each.renameKeyTo]] : [])));
}
