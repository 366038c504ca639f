/**
 * Rewrites a supergraph so that @apollo/query-planner plans rightly what it otherwise plans wrong, and its plans back again. Text in, text out:
 * nothing of the planner itself is patched (ADR 7).
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

export interface SupergraphMend extends Requirements {
  readonly document: DocumentNode;
  readonly hasStandIns: boolean;
  /** Gives a fetch's document with the fields that the subgraph knows. */
  mendOperation(operation: string): string;
  /** Gives what an entity's representation is made of, under the names that the subgraph knows. */
  mendRequires(selections: readonly RequiredSelection[]): readonly RequiredSelection[];
  /** What `@requires` says, in the names that the planner knows. */
  readonly requirements: FieldRequirements;
  /** Names of the interfaces that some subgraph defines as `@interfaceObject`. */
  readonly interfaceObjects: ReadonlySet<string>;
  /** Fields that are the key of such an interface in a subgraph, each alone, by the interface's name. */
  readonly interfaceKeys: ReadonlyMap<string, readonly string[]>;
}

type FieldsNode = ObjectTypeDefinitionNode | InterfaceTypeDefinitionNode;

const STAND_IN = '__standIn';

/** Takes the stand-ins out of what clients see. */
export function withoutStandIns(document: DocumentNode): DocumentNode {
  return visit(document, { FieldDefinition: ({ name }) => (name.value.includes(STAND_IN) ? null : undefined) });
}

interface StandIn {
  readonly name: string;
  readonly arguments: readonly ArgumentNode[];
}

export function mendSupergraph(sdl: string): SupergraphMend {
  const document = parse(sdl, { noLocation: true });
  const types = new Map<string, FieldsNode>();
  for (const definition of document.definitions) if (hasFields(definition)) types.set(definition.name.value, definition);
  const standIns = createStandIns(types);
  const interfaceKeys = findInterfaceKeys(types);
  const definitions = document.definitions.map((definition) =>
    hasFields(definition) ? standIns.mendType(putResolvableKeysFirst(definition)) : definition,
  );
  const mended: DocumentNode = {
    ...document,
    definitions: definitions.map((definition) => (hasFields(definition) ? standIns.addFields(definition) : definition)),
  };
  return {
    document: mended,
    requirements: readRequirements(mended),
    interfaceKeys,
    interfaceObjects: new Set(interfaceKeys.keys()),
    hasStandIns: standIns.occursIn(STAND_IN),
    realNameOf: standIns.realNameOf,
    neededBy: standIns.neededBy,
    mendOperation: (operation) =>
      standIns.occursIn(operation) ? print(visit(parse(operation, { noLocation: true }), { Field: standIns.restore })) : operation,
    mendRequires: (selections) => selections.map(standIns.restoreRequired),
  };
}

function hasFields(definition: DocumentNode['definitions'][number]): definition is FieldsNode {
  return definition.kind === Kind.OBJECT_TYPE_DEFINITION || definition.kind === Kind.INTERFACE_TYPE_DEFINITION;
}

/** The planner takes the first key of a type to come back to a subgraph, though that may be one which the subgraph does not resolve. */
function putResolvableKeysFirst(type: FieldsNode): FieldsNode {
  const directives = [...(type.directives ?? [])];
  const rank = (directive: ConstDirectiveNode) =>
    directive.arguments?.some(({ name, value }) => name.value === 'resolvable' && value.kind === Kind.BOOLEAN && !value.value) ? 1 : 0;
  return { ...type, directives: directives.sort((a, b) => rank(a) - rank(b)) };
}

/**
 * A field with arguments that `@requires` pulls in must not meet the same field with other arguments, whether the client's own or those of another
 * `@requires`: the planner tells them apart by name only. So each gets a field of its own, which stands for it in the planner's eyes.
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

  const mendSet = (set: SelectionSetNode, type: FieldsNode | undefined, used: Set<string>): SelectionSetNode => ({
    ...set,
    selections: set.selections.map((selection) => {
      if (selection.kind === Kind.FRAGMENT_SPREAD) return selection;
      if (selection.kind === Kind.INLINE_FRAGMENT) {
        const on = selection.typeCondition ? types.get(selection.typeCondition.name.value) : type;
        return { ...selection, selectionSet: mendSet(selection.selectionSet, on, used) };
      }
      const definition = type?.fields?.find(({ name }) => name.value === selection.name.value);
      if (!type || !definition) return selection;
      const below = selection.selectionSet && mendSet(selection.selectionSet, types.get(nameOf(definition.type)), used);
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

  const mendDirective = (directive: ConstDirectiveNode, type: FieldsNode, field: string): ConstDirectiveNode => ({
    ...directive,
    arguments: (directive.arguments ?? []).map((argument) => {
      if (argument.name.value !== 'requires' || argument.value.kind !== Kind.STRING) return argument;
      const [operation] = parse(`{${argument.value.value}}`, { noLocation: true }).definitions;
      if (operation?.kind !== Kind.OPERATION_DEFINITION) return argument;
      const used = new Set<string>();
      const text = print(mendSet(operation.selectionSet, type, used))
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
    mendType: (type: FieldsNode): FieldsNode => ({
      ...type,
      fields: (type.fields ?? []).map((field) => ({
        ...field,
        directives: (field.directives ?? []).map((each) => mendDirective(each, type, field.name.value)),
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
