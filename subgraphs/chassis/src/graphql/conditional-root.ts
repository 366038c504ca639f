/**
 * Refuses subscriptions whose root field has a condition (GraphQL, September 2025, §5.2.4.1): graphql-js 16 accepts some, and then has no field whose
 * resolver it could call.
 */
import {
  type DocumentNode,
  type FragmentDefinitionNode,
  GraphQLError,
  Kind,
  OperationTypeNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';

const MESSAGE = 'The root field of a subscription must not have @skip or @include.';
const CONDITIONS = ['skip', 'include'];

type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

/** Returns an error for the first root field of a subscription, or fragment around one, that has `@skip` or `@include`. */
export function findConditionalRoot({ definitions }: DocumentNode): GraphQLError | undefined {
  const fragments = new Map(definitions.flatMap((each) => (each.kind === Kind.FRAGMENT_DEFINITION ? [[each.name.value, each]] : [])));
  for (const each of definitions) {
    if (each.kind !== Kind.OPERATION_DEFINITION || each.operation !== OperationTypeNode.SUBSCRIPTION) continue;
    const found = findCondition(each.selectionSet, fragments, new Set());
    if (found) return new GraphQLError(MESSAGE, { nodes: [found] });
  }
  return undefined;
}

/** Enters each fragment once. */
function findCondition({ selections }: SelectionSetNode, fragments: Fragments, entered: Set<string>): SelectionNode | undefined {
  for (const selection of selections) {
    if (selection.directives?.some(({ name }) => CONDITIONS.includes(name.value))) return selection;
    const inner = selection.kind === Kind.FIELD ? undefined : selectionSetOf(selection, fragments, entered);
    const found = inner && findCondition(inner, fragments, entered);
    if (found) return found;
  }
  return undefined;
}

function selectionSetOf(
  selection: Exclude<SelectionNode, { readonly kind: Kind.FIELD }>,
  fragments: Fragments,
  entered: Set<string>,
): SelectionSetNode | undefined {
  if (selection.kind === Kind.INLINE_FRAGMENT) return selection.selectionSet;
  const name = selection.name.value;
  if (entered.has(name)) return undefined;
  entered.add(name);
  return fragments.get(name)?.selectionSet;
}
