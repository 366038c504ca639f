/** Reads `@requires` and keys from a supergraph, and finds the conditions under which an entity fetch needs each required field. */
import type { FetchNode } from '@apollo/query-planner';
import {
  type ConstDirectiveNode,
  type DocumentNode,
  type FieldNode,
  type GraphQLSchema,
  type InterfaceTypeDefinitionNode,
  Kind,
  type ObjectTypeDefinitionNode,
  type SelectionSetNode,
  doTypesOverlap,
  isCompositeType,
  parse,
  visit,
} from 'graphql';
import { type Condition, readConditions } from './selection.ts';

/** A selection of a representation, as the planner has it, and when it is needed. */
export type RequiredSelection = RequiredField | RequiredFragment;

export interface RequiredField {
  readonly kind: 'Field';
  readonly alias?: string;
  readonly name: string;
  readonly selections?: readonly RequiredSelection[];
  /**
   * Lists of conditions, each of which must hold as a whole for one field that needs it. Undefined means always needed. When none of the lists holds,
   * the representation is complete without it.
   */
  readonly neededWhen?: readonly (readonly Condition[])[] | undefined;
}

export interface RequiredFragment {
  readonly kind: 'InlineFragment';
  readonly typeCondition?: string;
  readonly selections: readonly RequiredSelection[];
}

/** A fetch whose requirements say when they are needed. */
export type GuardedFetch = Omit<FetchNode, 'requires'> & { readonly requires?: readonly RequiredSelection[] };

export interface FieldRequirements {
  /** The names of all fields that any key or any `@requires` of the supergraph names, at any depth. */
  readonly names: ReadonlySet<string>;
  /** Returns the selection set that a field of a type requires in a subgraph; undefined when it requires none. */
  of(service: string, type: string, field: string): SelectionSetNode | undefined;
  /** Returns the fields of each key by which a subgraph resolves entities of a type; none for a type that is not an entity there. */
  keysOf(service: string, type: string): readonly (readonly string[])[];
  /** Whether a subgraph defines a type. */
  isDefined(service: string, type: string): boolean;
  /** Whether a subgraph defines an interface as `@interfaceObject`. */
  isInterfaceObject(service: string, type: string): boolean;
}

/** A type with fields. */
export type FieldsNode = ObjectTypeDefinitionNode | InterfaceTypeDefinitionNode;

/** Reads `@join__field(graph:, requires:)` of the whole supergraph. */
export function readRequirements(document: DocumentNode): FieldRequirements {
  const services = readServices(document);
  const found = new Map<string, SelectionSetNode>();
  const keys = new Map<string, (readonly string[])[]>();
  const interfaceObjects = new Set<string>();
  const defined = new Set<string>();
  const names = new Set<string>();
  const read = (text: string) => {
    const set = parseSelections(text);
    visit(set, { Field: ({ name }) => void names.add(name.value) });
    return set;
  };
  for (const definition of document.definitions) {
    if (definition.kind !== Kind.OBJECT_TYPE_DEFINITION && definition.kind !== Kind.INTERFACE_TYPE_DEFINITION) continue;
    const type = definition.name.value;
    eachRequirement(definition, (field, graph, text) => {
      found.set(keyOf(services.get(graph) ?? graph, type, field), read(text));
    });
    for (const directive of definition.directives ?? []) {
      if (directive.name.value !== 'join__type') continue;
      const graph = textOf(directive, 'graph') ?? '';
      const at = keyOf(services.get(graph) ?? graph, type);
      defined.add(at);
      if (isInterfaceObject(directive)) interfaceObjects.add(at);
      const text = textOf(directive, 'key');
      if (text === undefined) continue;
      keys.set(at, [...(keys.get(at) ?? []), namesIn(read(text))]);
    }
  }
  return {
    names,
    keysOf: (service, type) => keys.get(keyOf(service, type)) ?? [],
    isDefined: (service, type) => defined.has(keyOf(service, type)),
    isInterfaceObject: (service, type) => interfaceObjects.has(keyOf(service, type)),
    of: (service, type, field) => found.get(keyOf(service, type, field)),
  };
}

function parseSelections(text: string): SelectionSetNode {
  const [operation] = parse(`{${text}}`, { noLocation: true }).definitions;
  if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error(`The supergraph has a selection set that is not valid: ${text}`);
  return operation.selectionSet;
}

function namesIn({ selections }: SelectionSetNode): string[] {
  return selections.flatMap((each) => (each.kind === Kind.FIELD ? [each.name.value] : []));
}

const keyOf = (...parts: readonly string[]) => parts.join('\n');

/** Returns the names of the subgraphs by their values of the enum `join__Graph`. */
function readServices({ definitions }: DocumentNode): Map<string, string> {
  const services = new Map<string, string>();
  for (const definition of definitions) {
    if (definition.kind !== Kind.ENUM_TYPE_DEFINITION || definition.name.value !== 'join__Graph') continue;
    for (const { name, directives = [] } of definition.values ?? []) {
      const graph = directives.find((each) => each.name.value === 'join__graph');
      const service = graph && textOf(graph, 'name');
      if (service !== undefined) services.set(name.value, service);
    }
  }
  return services;
}

function eachRequirement(type: FieldsNode, use: (field: string, graph: string, requires: string) => void): void {
  for (const { name, directives = [] } of type.fields ?? [])
    for (const directive of directives) {
      const requires = directive.name.value === 'join__field' ? textOf(directive, 'requires') : undefined;
      if (requires !== undefined) use(name.value, textOf(directive, 'graph') ?? '', requires);
    }
}

/** Returns a directive's argument that is a string or the name of an enum value. */
export function textOf({ arguments: given = [] }: ConstDirectiveNode, argument: string): string | undefined {
  const value = given.find(({ name }) => name.value === argument)?.value;
  return value?.kind === Kind.STRING || value?.kind === Kind.ENUM ? value.value : undefined;
}

/** Reads `isInterfaceObject` of `@join__type`. */
export function isInterfaceObject({ arguments: given = [] }: ConstDirectiveNode): boolean {
  return given.some(({ name, value }) => name.value === 'isInterfaceObject' && value.kind === Kind.BOOLEAN && value.value);
}

interface Needs {
  readonly schema: GraphQLSchema;
  readonly byPath: ReadonlyMap<string, readonly Need[]>;
}

interface Need {
  readonly type: string;
  readonly when: readonly Condition[];
}

/**
 * Marks required fields that only conditional fields of an entity fetch need. The planner fetches them under the same conditions. When none of the
 * conditions holds, the representation must be sent without them, for the other fields of the fetch.
 */
export function guardRequirements(
  { serviceName, operation, requires = [] }: FetchNode,
  { schema, requirements }: { schema: GraphQLSchema; requirements: FieldRequirements },
): readonly RequiredSelection[] {
  if (!operation.includes('@skip') && !operation.includes('@include')) return requires;
  const byPath = new Map<string, Need[]>();
  eachEntityField(parse(operation, { noLocation: true }), (type, field, when) => {
    const required = requirements.of(serviceName, type, field.name.value);
    if (!required) return;
    for (const path of leavesOf(required, [])) byPath.set(path, [...(byPath.get(path) ?? []), { type, when }]);
  });
  return byPath.size > 0 ? requires.map((each) => guard(each, { needs: { schema, byPath }, path: [], type: '' })) : requires;
}

interface Level {
  readonly needs: Needs;
  readonly path: readonly string[];
  /** The entity's type; empty when it is not known. */
  readonly type: string;
}

function guard(selection: RequiredSelection, { needs, path, type }: Level): RequiredSelection {
  if (selection.kind === 'InlineFragment') {
    const own = path.length === 0 ? (selection.typeCondition ?? type) : type;
    return { ...selection, selections: selection.selections.map((each) => guard(each, { needs, path, type: own })) };
  }
  const at = [...path, selection.name];
  if (!selection.selections) {
    const ways = (needs.byPath.get(at.join('.')) ?? []).filter((need) => canBeSame(needs.schema, need.type, type)).map(({ when }) => when);
    return ways.length > 0 && ways.every((when) => when.length > 0) ? { ...selection, neededWhen: ways } : selection;
  }
  const selections = selection.selections.map((each) => guard(each, { needs, path: at, type }));
  const ways = waysOf(selections);
  return { ...selection, selections, ...(ways && { neededWhen: ways }) };
}

/** Whether one object may be of both types. */
function canBeSame(schema: GraphQLSchema, a: string, b: string): boolean {
  const [one, other] = [schema.getType(a), schema.getType(b)];
  return !isCompositeType(one) || !isCompositeType(other) || doTypesOverlap(schema, one, other);
}

/** Returns the conditions under which any of the selections is needed; undefined when one always is. `__typename` does not count. */
function waysOf(selections: readonly RequiredSelection[]): (readonly Condition[])[] | undefined {
  const ways: (readonly Condition[])[] = [];
  for (const each of selections) {
    if (each.kind === 'Field' && each.name === '__typename') continue;
    const own = each.kind === 'InlineFragment' ? waysOf(each.selections) : each.neededWhen;
    if (!own) return undefined;
    ways.push(...own);
  }
  return ways.length > 0 ? ways : undefined;
}

/** Calls `use` for each of the entities' own fields in a fetch's document, with the conditions of the field and of all fragments around it. */
export function eachEntityField(document: DocumentNode, use: (type: string, field: FieldNode, when: readonly Condition[]) => void): void {
  const walk = (set: SelectionSetNode, type: string, when: readonly Condition[]) => {
    for (const selection of set.selections) {
      const own = readConditions(selection);
      if (own === 'never' || selection.kind === Kind.FRAGMENT_SPREAD) continue;
      const all = [...when, ...own];
      if (selection.kind === Kind.FIELD) use(type, selection, all);
      else walk(selection.selectionSet, selection.typeCondition?.name.value ?? type, all);
    }
  };
  visit(document, {
    Field: (field) => {
      if (field.name.value === '_entities' && field.selectionSet) walk(field.selectionSet, '', []);
      return false;
    },
  });
}

/** Returns the paths of a selection set's leaf fields below `path`, names with dots between. */
export function leavesOf(set: SelectionSetNode, path: readonly string[]): string[] {
  return set.selections.flatMap((selection) => {
    if (selection.kind === Kind.FRAGMENT_SPREAD) return [];
    if (selection.kind === Kind.INLINE_FRAGMENT) return leavesOf(selection.selectionSet, path);
    const at = [...path, selection.name.value];
    return selection.selectionSet ? leavesOf(selection.selectionSet, at) : [at.join('.')];
  });
}
