/** Finds the fields that an operation selects at a path of its result, by the type of the objects there. */
import { type DocumentNode, type FieldNode, type GraphQLSchema, Kind, type SelectionSetNode, getNamedType, print } from 'graphql';
import { readPlace } from './places.ts';
import { type Condition, createSelections } from './selection.ts';
import { typesOf } from './type-names.ts';

/** One selection of a field. */
export interface SelectedField {
  /** Its name and arguments. */
  readonly text: string;
  /** Conditions within its own selection set. */
  readonly when: readonly Condition[];
}

/** Selections of fields, by their paths: response keys with dots between. */
export type FieldsByPath = ReadonlyMap<string, readonly SelectedField[]>;

/**
 * Takes a path as the planner writes it and the `__typename` of the objects there. Returns all selected fields, at every depth; below the objects' own
 * fields the types are not distinguished.
 */
export type SelectedFields = (path: readonly string[], type: string) => FieldsByPath;

/** Returns a string that is equal for the same field with the same arguments. */
export function describeField({ name, arguments: given = [] }: FieldNode): string {
  return `${name.value}(${given.map(print).sort().join()})`;
}

/** Creates the lookup for `document`, one operation without fragment spreads; `schema` has every type of the supergraph. */
export function createSelectedFields(schema: GraphQLSchema, document: DocumentNode): SelectedFields {
  const selections = createSelections(schema, new Map());
  const places = new Map<string, ReadonlySet<SelectionSetNode>>();

  const collect = (type: string, sets: Iterable<SelectionSetNode>) => {
    const found = schema.getType(type);
    // Conditions around a whole selection set belong to the field that has the set.
    return found
      ? selections.collect(
          found,
          Array.from(sets, (set) => ({ set, when: [] })),
        )
      : [];
  };

  const setsAt = (path: readonly string[]): ReadonlySet<SelectionSetNode> => {
    const known = places.get(path.join('.'));
    if (known) return known;
    const [operation] = document.definitions;
    if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error('The document must be one operation');
    let sets = new Set([operation.selectionSet]);
    let types = new Set([schema.getRootType(operation.operation)?.name ?? '']);
    for (const { key, types: allowed } of readPlace([], [...path], (name) => typesOf(schema, name))) {
      if (key !== '@') {
        const next = { sets: new Set<SelectionSetNode>(), types: new Set<string>() };
        for (const type of types)
          for (const field of collect(type, sets)) {
            if (field.key !== key || !field.type) continue;
            for (const { set } of field.sets) next.sets.add(set);
            for (const name of typesOf(schema, getNamedType(field.type).name)) next.types.add(name);
          }
        ({ sets, types } = next);
      }
      if (allowed) types = new Set([...types].filter((name) => allowed.includes(name)));
    }
    places.set(path.join('.'), sets);
    return sets;
  };

  return (path, type) => {
    const found = new Map<string, SelectedField[]>();
    const add = (types: Iterable<string>, sets: Iterable<SelectionSetNode>, prefix: string) => {
      const below = new Map<string, { sets: Set<SelectionSetNode>; types: Set<string> }>();
      for (const each of types)
        for (const field of collect(each, sets)) {
          const at = `${prefix}${field.key}`;
          const ways = field.nodes.map((node, i) => ({ text: describeField(node), when: field.when[i] ?? [] }));
          found.set(at, [...(found.get(at) ?? []), ...ways]);
          if (!field.type || field.sets.length === 0) continue;
          const next = below.get(at) ?? { sets: new Set(), types: new Set() };
          below.set(at, next);
          for (const { set } of field.sets) next.sets.add(set);
          for (const name of typesOf(schema, getNamedType(field.type).name)) next.types.add(name);
        }
      for (const [at, next] of below) add(next.types, next.sets, `${at}.`);
    };
    add([type], setsAt(path), '');
    return found;
  };
}
