/** Finds the fields of an operation that need exactly one slicing argument (IBM cost specification, `@listSize`). */
import { argumentOf, defaultOf, findListSize, readStrings } from '@trestle/graph-checks/cost-directives';
import {
  type ArgumentNode,
  type FieldNode,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type ValueNode,
  getNamedType,
  isAbstractType,
  isCompositeType,
  isInterfaceType,
  isObjectType,
} from 'graphql';
import type { SlicedField, SlicingVariable } from '../../program/program.ts';
import { locationOf } from '../selections/input-types.ts';
import { type Condition, readConditions, union } from '../selections/selection.ts';

/** Returns the fields to check for each request: none where the document itself sets exactly one argument. */
export type FindSliced = (expanded: OperationDefinitionNode) => SlicedField[];

/** A field of the supergraph that needs one slicing argument. */
interface Sliced {
  readonly names: readonly string[];
  readonly hasDefault: boolean;
}

/** Creates the function for a schema of clients and its supergraph. It costs nothing when no field needs a slicing argument. */
export function createFindSliced(schema: GraphQLSchema, supergraph: GraphQLSchema): FindSliced {
  const sliced = findSliced(supergraph);
  if (sliced.size === 0) return () => [];
  const look = (type: GraphQLCompositeType, { selections }: SelectionSetNode, when: readonly Condition[]): SlicedField[] =>
    selections.flatMap((selection) => {
      const own = readConditions(selection);
      if (own === 'never' || selection.kind === Kind.FRAGMENT_SPREAD) return [];
      const all = union(when, own);
      if (selection.kind === Kind.INLINE_FRAGMENT) {
        const condition = selection.typeCondition ? schema.getType(selection.typeCondition.name.value) : type;
        return isCompositeType(condition) ? look(condition, selection.selectionSet, all) : [];
      }
      const field = isObjectType(type) || isInterfaceType(type) ? type.getFields()[selection.name.value] : undefined;
      if (!field) return [];
      const returned = getNamedType(field.type);
      const below = isCompositeType(returned) && selection.selectionSet ? look(returned, selection.selectionSet, all) : [];
      const coordinate = toCoordinates(schema, type, field).find((each) => sliced.has(each));
      const found = coordinate === undefined ? undefined : sliced.get(coordinate);
      return coordinate === undefined || !found
        ? below
        : [...toSlicedField(selection, { ...found, field: coordinate, when: all }), ...below];
    });
  return (operation) => {
    const root = schema.getRootType(operation.operation);
    return root ? look(root, operation.selectionSet, []) : [];
  };
}

function findSliced(supergraph: GraphQLSchema): ReadonlyMap<string, Sliced> {
  const found = new Map<string, Sliced>();
  for (const type of Object.values(supergraph.getTypeMap())) {
    if (!isObjectType(type) && !isInterfaceType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      const listSize = findListSize(field.astNode?.directives ?? []);
      const names = readStrings(listSize, 'slicingArguments');
      const required = argumentOf(listSize, 'requireOneSlicingArgument');
      const isRequired = required?.kind !== Kind.BOOLEAN || required.value;
      if (names.length > 0 && isRequired)
        found.set(`${type.name}.${field.name}`, { names, hasDefault: names.some((name) => defaultOf(field, name) !== undefined) });
    }
  }
  return found;
}

/** A field of an interface needs what a field of any of its object types needs. */
function toCoordinates(schema: GraphQLSchema, type: GraphQLCompositeType, { name }: GraphQLField<unknown, unknown>): string[] {
  const types = isAbstractType(type) ? [type, ...schema.getPossibleTypes(type)] : [type];
  return types.map((each) => `${each.name}.${name}`);
}

/** Returns nothing for a field that needs no check. */
function toSlicedField(node: FieldNode, facts: Sliced & Pick<SlicedField, 'field' | 'when'>): SlicedField[] {
  const values = facts.names.map((name) => ({ name, value: valueOf(node.arguments ?? [], name) }));
  const literals = values.flatMap(({ name, value }) => (value === 'literal' ? [name] : []));
  const variables = values.flatMap(({ name, value }): SlicingVariable[] => (typeof value === 'object' ? [{ name, ...value }] : []));
  const isMet = variables.length === 0 && (literals.length === 1 || (literals.length === 0 && facts.hasDefault));
  return isMet ? [] : [{ ...facts, literals, variables, location: locationOf(node) }];
}

type Given = 'literal' | Omit<SlicingVariable, 'name'> | undefined;

function valueOf(given: readonly ArgumentNode[], path: string): Given {
  const [name, ...inner] = path.split('.');
  let value: ValueNode | undefined = given.find((each) => each.name.value === name)?.value;
  for (const [i, key] of inner.entries()) {
    if (value?.kind === Kind.VARIABLE) return { variable: value.name.value, path: inner.slice(i) };
    value = value?.kind === Kind.OBJECT ? value.fields.find((each) => each.name.value === key)?.value : undefined;
  }
  if (value?.kind === Kind.VARIABLE) return { variable: value.name.value, path: [] };
  return value === undefined || value.kind === Kind.NULL ? undefined : 'literal';
}
