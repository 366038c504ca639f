/**
 * Adds to an operation what makes the planner ask an entity's owner whether the entity exists (ADR 3). The operation itself may select `__typename`
 * alone, fields of other subgraphs, or no field of the entity's type.
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
import type { Owners } from '../selections/owners.ts';
import { readConditions } from '../selections/selection.ts';
import { unusedAlias } from '../selections/unused-alias.ts';

/** `unusedAlias` makes it longer when the client uses it. */
const ALIAS = '__owner';

export interface AskOwnersInput {
  /** The schema that clients see. */
  readonly schema: GraphQLSchema;
  readonly owners: Owners;
  /** Holds no fragment spreads. */
  readonly operation: OperationDefinitionNode;
}

/**
 * Returns the operation with an additional field of the owner in every selection set that has none for a type with an owner. The response does not
 * contain the additional fields.
 */
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

  /** A fragment belongs to the selection set around it; only the fields in it have selection sets of their own. */
  const mapFields = (type: GraphQLCompositeType, set: SelectionSetNode): SelectionSetNode => ({
    ...set,
    selections: set.selections.map((selection) => {
      if (selection.kind === Kind.FIELD) return askBelow(type, selection);
      if (selection.kind !== Kind.INLINE_FRAGMENT) return selection;
      return { ...selection, selectionSet: mapFields(conditionOf(selection, type), selection.selectionSet) };
    }),
  });

  /** Whether a field that only the owner resolves is selected without a condition for objects of the type `name`. */
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
