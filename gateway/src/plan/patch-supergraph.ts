/**
 * Rewrites a supergraph so that @apollo/query-planner plans correctly what it otherwise plans wrong, and restores the original names in its plans
 * (ADR 7).
 */
import { type FieldRequirements, type RequiredSelection, isInterfaceObject, readRequirements, textOf } from './requirements.ts';
import type { Requirements } from './split-fetch.ts';
import {
  type ArgumentNode,
  type ConstDirectiveNode,
  type DocumentNode,
  type FieldDefinitionNode,
  type FieldNode,
  type InterfaceTypeDefinitionNode,
  Kind,
  type ObjectTypeDefinitionNode,
  type SelectionSetNode,
  type TypeNode,
  parse,
  print,
  visit,
} from 'graphql';

export interface SupergraphPatch extends Requirements {
  readonly document: DocumentNode;
  readonly hasStandIns: boolean;
  /** Returns a fetch's document with the fields that the subgraph defines. */
  restoreOperation(operation: string): string;
  /** Returns the selections of a representation with the field names that the subgraph defines. */
  restoreRequires(selections: readonly RequiredSelection[]): readonly RequiredSelection[];
  /** The fields of `@requires`, with the names in the rewritten supergraph. */
  readonly requirements: FieldRequirements;
  /** Names of the interfaces that some subgraph defines as `@interfaceObject`. */
  readonly interfaceObjects: ReadonlySet<string>;
  /** Keys of these interfaces that are a single field, by the interface's name. */
  readonly interfaceKeys: ReadonlyMap<string, readonly string[]>;
}

type FieldsNode = ObjectTypeDefinitionNode | InterfaceTypeDefinitionNode;

const STAND_IN = '__standIn';

/** Returns the schema of clients without stand-ins. */
export function withoutStandIns(document: DocumentNode): DocumentNode {
  return visit(document, { FieldDefinition: ({ name }) => (name.value.includes(STAND_IN) ? null : undefined) });
}

interface StandIn {
  readonly name: string;
  readonly arguments: readonly ArgumentNode[];
}

/** Returns the supergraph for the planner, and what restores the original names. */
export function patchSupergraph(sdl: string): SupergraphPatch {
  const document = parse(sdl, { noLocation: true });
  const types = new Map<string, FieldsNode>();
  for (const definition of document.definitions) if (hasFields(definition)) types.set(definition.name.value, definition);
  const standIns = createStandIns(types);
  const interfaceKeys = findInterfaceKeys(types);
  const definitions = document.definitions.map((definition) =>
    hasFields(definition) ? standIns.patchType(putResolvableKeysFirst(definition)) : definition,
  );
  const patched: DocumentNode = {
    ...document,
    definitions: definitions.map((definition) => (hasFields(definition) ? standIns.addFields(definition) : definition)),
  };
  return {
    document: patched,
    requirements: readRequirements(patched),
    interfaceKeys,
    interfaceObjects: new Set(interfaceKeys.keys()),
    hasStandIns: standIns.occursIn(STAND_IN),
    realNameOf: standIns.realNameOf,
    neededBy: standIns.neededBy,
    restoreOperation: (operation) =>
      standIns.occursIn(operation) ? print(visit(parse(operation, { noLocation: true }), { Field: standIns.restore })) : operation,
    restoreRequires: (selections) => selections.map(standIns.restoreRequired),
  };
}

function hasFields(definition: DocumentNode['definitions'][number]): definition is FieldsNode {
  return definition.kind === Kind.OBJECT_TYPE_DEFINITION || definition.kind === Kind.INTERFACE_TYPE_DEFINITION;
}

/** The planner uses the first key of a type to fetch from a subgraph again, even when the subgraph does not resolve this key. */
function putResolvableKeysFirst(type: FieldsNode): FieldsNode {
  const directives = [...(type.directives ?? [])];
  const rank = (directive: ConstDirectiveNode) =>
    directive.arguments?.some(({ name, value }) => name.value === 'resolvable' && value.kind === Kind.BOOLEAN && !value.value) ? 1 : 0;
  return { ...type, directives: directives.sort((a, b) => rank(a) - rank(b)) };
}

/**
 * Adds a field, the stand-in, for each field with arguments that `@requires` names. The planner distinguishes fields by name only, and would confuse
 * the field with the same field and other arguments, of the client or of another `@requires`.
 */
function createStandIns(types: ReadonlyMap<string, FieldsNode>) {
  const byName = new Map<string, StandIn>();
  const added = new Map<string, FieldDefinitionNode[]>();
  const known = new Map<string, string>();
  const needs = new Map<string, Set<string>>();

  const standInFor = (type: FieldsNode, definition: FieldDefinitionNode, field: FieldNode): string => {
    const given = field.arguments ?? [];
    const key = `${type.name.value}.${field.name.value}(${given.map(print).sort().join()})`;
    const name = known.get(key) ?? `${field.name.value}${STAND_IN}${String(known.size)}`;
    if (known.has(key)) return name;
    known.set(key, name);
    byName.set(name, { name: field.name.value, arguments: given });
    addField(type, definition, name);
    for (const implementation of types.values()) {
      if (!implementation.interfaces?.some((each) => each.name.value === type.name.value)) continue;
      const own = implementation.fields?.find((each) => each.name.value === field.name.value);
      if (own) addField(implementation, own, name);
    }
    return name;
  };
  const addField = (type: FieldsNode, { kind, type: fieldType, directives = [] }: FieldDefinitionNode, name: string) => {
    const field: FieldDefinitionNode = { kind, type: fieldType, directives, name: { kind: Kind.NAME, value: name } };
    added.set(type.name.value, [...(added.get(type.name.value) ?? []), field]);
  };

  const patchSet = (set: SelectionSetNode, type: FieldsNode | undefined, used: Set<string>): SelectionSetNode => ({
    ...set,
    selections: set.selections.map((selection) => {
      if (selection.kind === Kind.FRAGMENT_SPREAD) return selection;
      if (selection.kind === Kind.INLINE_FRAGMENT) {
        const on = selection.typeCondition ? types.get(selection.typeCondition.name.value) : type;
        return { ...selection, selectionSet: patchSet(selection.selectionSet, on, used) };
      }
      const definition = type?.fields?.find(({ name }) => name.value === selection.name.value);
      if (!type || !definition) return selection;
      const below = selection.selectionSet && patchSet(selection.selectionSet, types.get(nameOf(definition.type)), used);
      const { arguments: given = [], ...plain } = selection;
      const name = definition.arguments?.length ? standInFor(type, definition, selection) : selection.name.value;
      if (name !== selection.name.value) used.add(name);
      return {
        ...plain,
        name: { kind: Kind.NAME, value: name },
        ...(name === selection.name.value && { arguments: given }),
        ...(below && { selectionSet: below }),
      };
    }),
  });

  const patchDirective = (directive: ConstDirectiveNode, type: FieldsNode, field: string): ConstDirectiveNode => ({
    ...directive,
    arguments: (directive.arguments ?? []).map((argument) => {
      if (argument.name.value !== 'requires' || argument.value.kind !== Kind.STRING) return argument;
      const [operation] = parse(`{${argument.value.value}}`, { noLocation: true }).definitions;
      if (operation?.kind !== Kind.OPERATION_DEFINITION) return argument;
      const used = new Set<string>();
      const text = print(patchSet(operation.selectionSet, type, used))
        .replaceAll(/\s+/g, ' ')
        .slice(1, -1)
        .trim();
      needs.set(`${type.name.value}.${field}`, new Set([...(needs.get(`${type.name.value}.${field}`) ?? []), ...used]));
      return { ...argument, value: { ...argument.value, value: text, block: false } };
    }),
  });

  const restore = (field: FieldNode): FieldNode | undefined => {
    const standIn = byName.get(field.name.value);
    return (
      standIn && {
        ...field,
        alias: field.alias ?? field.name,
        name: { kind: Kind.NAME, value: standIn.name },
        arguments: standIn.arguments,
      }
    );
  };
  const restoreRequired = (selection: RequiredSelection): RequiredSelection => {
    if (selection.kind === 'InlineFragment') return { ...selection, selections: selection.selections.map(restoreRequired) };
    const standIn = byName.get(selection.name);
    const below = selection.selections && { selections: selection.selections.map(restoreRequired) };
    return standIn ? { ...selection, ...below, alias: selection.alias ?? selection.name, name: standIn.name } : { ...selection, ...below };
  };

  return {
    patchType: (type: FieldsNode): FieldsNode => ({
      ...type,
      fields: (type.fields ?? []).map((field) => ({
        ...field,
        directives: (field.directives ?? []).map((each) => patchDirective(each, type, field.name.value)),
      })),
    }),
    addFields: (type: FieldsNode): FieldsNode => ({ ...type, fields: [...(type.fields ?? []), ...(added.get(type.name.value) ?? [])] }),
    realNameOf: (field: string) => byName.get(field)?.name,
    neededBy: (type: string, field: string): ReadonlySet<string> => needs.get(`${type}.${field}`) ?? NO_NEEDS,
    occursIn: (text: string) => byName.size > 0 && text.includes(STAND_IN),
    restore,
    restoreRequired,
  };
}

/** Reads `@join__type(key:, isInterfaceObject: true)`; every interface object has a key. */
function findInterfaceKeys(types: ReadonlyMap<string, FieldsNode>): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { name, directives = [] } of types.values()) {
    const own = directives.filter(isInterfaceObject);
    if (own.length === 0) continue;
    const keys = own.map((each) => textOf(each, 'key') ?? '').filter((key) => /^\w+$/.test(key));
    found.set(name.value, [...new Set(keys)]);
  }
  return found;
}

const NO_NEEDS: ReadonlySet<string> = new Set();

function nameOf(type: TypeNode): string {
  return type.kind === Kind.NAMED_TYPE ? type.name.value : nameOf(type.type);
}
