/** Finds what an operation selects of objects at a path of its result, by the objects' type. */
import { type DocumentNode, type FieldNode, type GraphQLSchema, Kind, type SelectionSetNode, getNamedType, print } from 'graphql';
import { readPlace } from './places.ts';
import { type Condition, createSelections } from './selection.ts';
import { typesOf } from './type-names.ts';

/** One way by which a field is selected. */
export interface SelectedField {
  /** Its name and arguments. */
  readonly text: string;
  /** Conditions within its own selection set. */
  readonly when: readonly Condition[];
}

/** The ways by which fields are selected, by their paths: response keys with dots between. */
export type FieldsByPath = ReadonlyMap<string, readonly SelectedField[]>;

/**
 * Takes a path as the planner writes it and the `__typename` of the objects there. Returns all that is selected of them, at every depth; below their
 * own fields the types are not told apart.
 */
export type SelectedFields = (path: readonly string[], type: string) => FieldsByPath;

/** Whether one text stands for the same field, with the same arguments. */
export function describeField({ name, arguments: given = [] }: FieldNode): string {
  return `${name.value}(${given.map(print).sort().join()})`;
}

/** `document` is one operation without fragment spreads; `schema` has every type of the supergraph. */
export function createSelectedFields(schema: GraphQLSchema, document: DocumentNode): SelectedFields {
  const selections = createSelections(schema, new Map());
  const places = new Map<string, ReadonlySet<SelectionSetNode>>();

  const collect = (type: string, sets: Iterable<SelectionSetNode>) => {
    const found = schema.getType(type);
    // Conditions around a whole selection set stand with the field that has it.
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
