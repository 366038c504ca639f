/**
 * Rewrites a supergraph so that @apollo/query-planner plans correctly what it otherwise plans wrong, and restores the original names in its plans
 * (ADR 7).
 */
import {
  type FieldRequirements,
  type FieldsNode,
  type RequiredSelection,
  isInterfaceObject,
  readRequirements,
  textOf,
} from '../selections/requirements.ts';
import type { Requirements } from '../corrections/split-fetch.ts';
import { type ConstDirectiveNode, type DocumentNode, Kind } from 'graphql';
import { findContexts } from './contexts.ts';
import { StandIns } from './stand-ins.ts';

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

/** Returns the supergraph for the planner, and what restores the original names. */
export function patchSupergraph(document: DocumentNode): SupergraphPatch {
  const types = new Map<string, FieldsNode>();
  for (const definition of document.definitions) if (hasFields(definition)) types.set(definition.name.value, definition);
  const standIns = new StandIns(types, findContexts(types));
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
    hasStandIns: !standIns.isEmpty,
    realNameOf: (field) => standIns.realNameOf(field),
    neededBy: (type, field) => standIns.neededBy(type, field),
    restoreOperation: (operation) => standIns.restoreOperation(operation),
    restoreRequires: (selections) => selections.map((each) => standIns.restoreRequired(each)),
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
