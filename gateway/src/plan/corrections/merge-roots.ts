/**
 * Makes one selection of all selections of a root field of a mutation, so that its plan executes the field once, where its first selection is
 * (GraphQL §6.2.2, §6.3.2). The planner would make a fetch for each selection with other conditions.
 */
import {
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  GraphQLError,
  Kind,
  OperationTypeNode,
  type SelectionNode,
  type SelectionSetNode,
  print,
} from 'graphql';
import { type Condition, isSame, readConditions, toDirective, union } from '../selections/selection.ts';

/** A selection of a root field, and the directives of the fragments around it. */
interface RootSelection {
  readonly field: FieldNode;
  readonly around: readonly DirectiveNode[];
  readonly conditions: readonly Condition[];
}

export interface MergedRoots {
  readonly document: DocumentNode;
  /** A variable whose value must be known before all selections can be merged. */
  readonly undecided?: string;
}

/**
 * Returns a mutation, which must be without fragment spreads and decided conditions, with one selection of each root field. Other operations are
 * returned as they are.
 */
export function mergeRoots(document: DocumentNode): MergedRoots {
  const [operation] = document.definitions;
  if (operation?.kind !== Kind.OPERATION_DEFINITION || operation.operation !== OperationTypeNode.MUTATION) return { document };
  const groups = new Map<string, RootSelection[]>();
  for (const root of listRoots(operation.selectionSet, [], [])) {
    const key = (root.field.alias ?? root.field.name).value;
    groups.set(key, [...(groups.get(key) ?? []), root]);
  }
  const lists = [...groups.values()];
  if (lists.every(({ length }) => length === 1)) return { document };
  for (const [first, ...others] of lists) {
    const open = first?.conditions.find((one) => !others.every(({ conditions }) => conditions.some((each) => isSame(each, one))));
    if (open) return { document, undecided: open.variable };
  }
  const selectionSet: SelectionSetNode = { kind: Kind.SELECTION_SET, selections: lists.flatMap(mergeSelections) };
  return { document: { ...document, definitions: [{ ...operation, selectionSet }] } };
}

/** Returns the error for a mutation that needs a plan for each value of more than `limit` variables. */
export function tooManyConditions({ definitions }: DocumentNode, limit: number): GraphQLError {
  return new GraphQLError(
    `The mutation selects a root field several times under conditions with more than ${String(limit)} variables. Select each root field once.`,
    { nodes: definitions, extensions: { code: 'VALIDATION_ERROR' } },
  );
}

/**
 * Throws a GraphQLError for a mutation with equal fragments around root fields that have others between them: the planner merges these fragments, and would
 * execute the fields in another order than the document's.
 */
export function requireOrder({ definitions }: DocumentNode): void {
  const [operation] = definitions;
  if (operation?.kind !== Kind.OPERATION_DEFINITION || operation.operation !== OperationTypeNode.MUTATION) return;
  const seen = new Set<string>();
  let before: readonly string[] = [];
  const isOrdered = listRoots(operation.selectionSet, [], []).every(({ around }) => {
    const layers = around.map((_, i) =>
      around
        .slice(0, i + 1)
        .map(print)
        .join(' '),
    );
    const isKept = layers.every((each) => before.includes(each) || !seen.has(each));
    for (const each of layers) seen.add(each);
    before = layers;
    return isKept;
  });
  if (!isOrdered)
    throw new GraphQLError(
      'The order of the root fields of the mutation cannot be planned, because of the directives of fragments around them. Select root fields outside of fragments.',
      { nodes: operation, extensions: { code: 'VALIDATION_ERROR' } },
    );
}

function listRoots(set: SelectionSetNode, around: readonly DirectiveNode[], conditions: readonly Condition[]): RootSelection[] {
  return set.selections.flatMap((selection): RootSelection[] => {
    const own = readConditions(selection);
    if (own === 'never' || selection.kind === Kind.FRAGMENT_SPREAD) return [];
    const all = union(conditions, own);
    if (selection.kind === Kind.FIELD) return [{ field: selection, around, conditions: all }];
    return listRoots(selection.selectionSet, [...around, ...(selection.directives ?? [])], all);
  });
}

/** Returns the first selection with the fields of the others, which are only selected when the first is. */
function mergeSelections([first, ...others]: readonly RootSelection[]): readonly SelectionNode[] {
  if (!first) return [];
  const { field, around, conditions } = first;
  const added = others.flatMap((other) =>
    wrap(
      other.field.selectionSet?.selections ?? [],
      other.conditions.filter((one) => !conditions.some((each) => isSame(each, one))).map(toDirective),
    ),
  );
  const { selectionSet } = field;
  const merged = selectionSet ? { ...field, selectionSet: { ...selectionSet, selections: [...selectionSet.selections, ...added] } } : field;
  return wrap([merged], around);
}

function wrap(selections: readonly SelectionNode[], directives: readonly DirectiveNode[]): readonly SelectionNode[] {
  return directives.reduceRight(
    (inner, directive) => [
      { kind: Kind.INLINE_FRAGMENT, directives: [directive], selectionSet: { kind: Kind.SELECTION_SET, selections: inner } },
    ],
    selections,
  );
}
