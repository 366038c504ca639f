/**
 * Restricts fields that only some types require to objects of these types. When a subgraph with an `@interfaceObject` requires a field, the planner
 * fetches it for every type of the interface. For objects that do not need the field, it could fail or be hidden from the caller.
 */
import {
  type DocumentNode,
  type GraphQLSchema,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
  getNamedType,
  isAbstractType,
  isInterfaceType,
  isObjectType,
  parse,
  print,
  stripIgnoredCharacters,
  visit,
} from 'graphql';
import { keysOf, renamedKeys, type RequiredPaths } from '../selections/required-paths.ts';
import type { FieldRequirements } from '../selections/requirements.ts';
import type { SelectedFields } from '../selections/selected-fields.ts';
import type { TypedFetch } from '../selections/typed-fetch.ts';

export interface NarrowInput {
  /** The path of the fetch as the planner writes it. */
  readonly path: readonly string[];
  /** What later fetches require. */
  readonly required: Readonly<Pick<RequiredPaths, 'get' | 'values'>>;
  readonly selected: SelectedFields;
  /** The whole supergraph's schema. */
  readonly schema: GraphQLSchema;
  readonly requirements: FieldRequirements;
}

interface Level {
  readonly type: string | undefined;
  /** Response keys from the root of the operation on. */
  readonly path: readonly string[];
}

/** Returns the fetch with fragments around those fields of an abstract type that are not needed for all of its types, by the operation or a later fetch. */
export function narrowRequired(node: TypedFetch, input: NarrowInput): TypedFetch {
  if (![...input.required.values()].some((types) => types !== undefined)) return node;
  const { schema, path } = input;
  const renamed = renamedKeys(node);
  const typesNeeding = findTypesNeeding(node, input);

  const narrowSet = (set: SelectionSetNode, level: Level): SelectionSetNode => ({
    ...set,
    selections: set.selections.flatMap((selection): readonly SelectionNode[] => {
      if (selection.kind === Kind.FRAGMENT_SPREAD) return [selection];
      if (selection.kind === Kind.INLINE_FRAGMENT) {
        const isKnown = level.type !== undefined && isObjectType(schema.getType(level.type));
        const type = isKnown ? level.type : (selection.typeCondition?.name.value ?? level.type);
        return [{ ...selection, selectionSet: narrowSet(selection.selectionSet, { ...level, type }) }];
      }
      const { name, alias = name, selectionSet } = selection;
      // The entities of a fetch stand at the path of the fetch itself.
      if (name.value === '_entities' && selectionSet)
        return [{ ...selection, selectionSet: narrowSet(selectionSet, { ...level, type: undefined }) }];
      const key = renamed.get(alias.value) ?? alias.value;
      const below: Level = { type: fieldType(schema, level.type, name.value), path: [...level.path, key] };
      const field = selectionSet ? { ...selection, selectionSet: narrowSet(selectionSet, below) } : selection;
      return typesNeeding(key, level)?.map((type) => onType(type, field)) ?? [field];
    }),
  });

  const document = parse(node.operation, { noLocation: true });
  const narrowed: DocumentNode = visit(document, {
    OperationDefinition: (operation) => {
      const type = schema.getRootType(operation.operation)?.name;
      return { ...operation, selectionSet: narrowSet(operation.selectionSet, { type, path: keysOf(path) }) };
    },
  });
  const text = stripIgnoredCharacters(print(narrowed));
  return text === stripIgnoredCharacters(node.operation) ? node : { ...node, operation: text };
}

/** Returns a function that returns the object types that need a field of an abstract type; undefined when all types do, or when that is unknown. */
function findTypesNeeding({ serviceName }: TypedFetch, { required, selected, schema, requirements }: NarrowInput) {
  return (key: string, { type, path }: Level): readonly string[] | undefined => {
    // Every object needs it: it is the object's type.
    if (key === '__typename') return undefined;
    const parent = type === undefined ? undefined : schema.getType(type);
    const types = required.get([...path, key].join('.'));
    if (!types || !isAbstractType(parent) || requirements.isInterfaceObject(serviceName, parent.name)) return undefined;
    const possible = schema.getPossibleTypes(parent).map(({ name }) => name);
    const needing = possible.filter((name) => types.has(name) || selected(path, name).has(key));
    const canBeNamed = needing.length > 0 && needing.every((name) => requirements.isDefined(serviceName, name));
    return canBeNamed && needing.length < possible.length ? needing : undefined;
  };
}

function fieldType(schema: GraphQLSchema, type: string | undefined, field: string): string | undefined {
  const parent = type === undefined ? undefined : schema.getType(type);
  const definition = isObjectType(parent) || isInterfaceType(parent) ? parent.getFields()[field] : undefined;
  return definition && getNamedType(definition.type).name;
}

function onType(name: string, selection: SelectionNode): SelectionNode {
  return {
    kind: Kind.INLINE_FRAGMENT,
    typeCondition: { kind: Kind.NAMED_TYPE, name: { kind: Kind.NAME, value: name } },
    selectionSet: { kind: Kind.SELECTION_SET, selections: [selection] },
  };
}
