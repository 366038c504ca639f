/**
 * Has the planner ask the owner of an entity whether it exists, whatever the operation selects of it: `__typename` alone, fields of other
 * subgraphs, or nothing that its type has (ADR 3).
 */
import {
  type FieldNode,
  type GraphQLCompositeType,
  type GraphQLSchema,
  type InlineFragmentNode,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  getNamedType,
  isAbstractType,
  isCompositeType,
  isUnionType,
} from 'graphql';
import type { Owners } from './owners.ts';
import { readConditions } from './selection.ts';
import { unusedAlias } from './unused-alias.ts';

/** Clients may use names like it; then it gets longer. */
const ALIAS = '__owner';

export interface AskOwnersInput {
  /** The schema that clients see. */
  readonly schema: GraphQLSchema;
  readonly owners: Owners;
  /** Holds no fragment spreads. */
  readonly operation: OperationDefinitionNode;
}

/** Returns the operation with a field of the owner in every selection set that has none for a type with an owner. The result does not show it. */
export function askOwners({ schema, owners, operation }: AskOwnersInput): OperationDefinitionNode {
  if (owners.size === 0) return operation;
  const alias = unusedAlias(operation, ALIAS);

  const askIn = (type: GraphQLCompositeType, set: SelectionSetNode): SelectionSetNode => {
    const selections = set.selections.map((selection) => {
      if (selection.kind === Kind.FIELD) return askBelow(type, selection);
      if (selection.kind !== Kind.INLINE_FRAGMENT) return selection;
      return { ...selection, selectionSet: mapFields(conditionOf(selection, type), selection.selectionSet) };
    });
    const possible = isAbstractType(type) ? schema.getPossibleTypes(type).map(({ name }) => name) : [type.name];
    const added = possible.flatMap((name): (FieldNode | InlineFragmentNode)[] => {
      const owner = owners.get(name);
      if (!owner || isAsked(type, set, { name, fields: owner.fields })) return [];
      const field = toField(owner.witness, alias);
      return [isAbstractType(type) ? onType(name, field) : field];
    });
    return { ...set, selections: [...selections, ...added] };
  };

  const askBelow = (type: GraphQLCompositeType, field: FieldNode): FieldNode => {
    const definition = isUnionType(type) ? undefined : type.getFields()[field.name.value];
    const below = definition && getNamedType(definition.type);
    return field.selectionSet && isCompositeType(below) ? { ...field, selectionSet: askIn(below, field.selectionSet) } : field;
  };

  /** Selections within a fragment belong to the set around it: only what stands below their fields is a set of its own. */
  const mapFields = (type: GraphQLCompositeType, set: SelectionSetNode): SelectionSetNode => ({
    ...set,
    selections: set.selections.map((selection) => {
      if (selection.kind === Kind.FIELD) return askBelow(type, selection);
      if (selection.kind !== Kind.INLINE_FRAGMENT) return selection;
      return { ...selection, selectionSet: mapFields(conditionOf(selection, type), selection.selectionSet) };
    }),
  });

  /** Whether a field that the owner alone gives is selected without a condition for objects of the type `name`. */
  const isAsked = (type: GraphQLCompositeType, set: SelectionSetNode, of: { name: string; fields: ReadonlySet<string> }): boolean =>
    set.selections.some((selection) => {
      if (readConditions(selection).length > 0) return false;
      if (selection.kind === Kind.FIELD) return of.fields.has(selection.name.value);
      if (selection.kind !== Kind.INLINE_FRAGMENT) return false;
      const condition = conditionOf(selection, type);
      const applies = isAbstractType(condition)
        ? schema.getPossibleTypes(condition).some(({ name }) => name === of.name)
        : condition.name === of.name;
      return applies && isAsked(condition, selection.selectionSet, of);
    });

  const conditionOf = ({ typeCondition }: InlineFragmentNode, type: GraphQLCompositeType): GraphQLCompositeType => {
    const named = typeCondition && schema.getType(typeCondition.name.value);
    return isCompositeType(named) ? named : type;
  };

  const root = schema.getRootType(operation.operation);
  return root ? { ...operation, selectionSet: askIn(root, operation.selectionSet) } : operation;
}

function toField(name: string, alias: string): FieldNode {
  return { kind: Kind.FIELD, alias: { kind: Kind.NAME, value: alias }, name: { kind: Kind.NAME, value: name } };
}

function onType(name: string, field: FieldNode): InlineFragmentNode {
  return {
    kind: Kind.INLINE_FRAGMENT,
    typeCondition: { kind: Kind.NAMED_TYPE, name: { kind: Kind.NAME, value: name } },
    selectionSet: { kind: Kind.SELECTION_SET, selections: [field] },
  };
}
