/** Shrinks an operation for which the engines give different responses. */
import {
  type DocumentNode,
  type GraphQLSchema,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
  parse,
  print,
  validate,
  visit,
} from 'graphql';
import type { FuzzOperation } from './operations.ts';

export interface ShrinkOptions {
  readonly schema: GraphQLSchema;
  readonly isDifferent: (operation: FuzzOperation) => Promise<boolean>;
}

/** Removes selections and conditions as long as the responses still differ. */
export async function shrink(operation: FuzzOperation, { schema, isDifferent }: ShrinkOptions): Promise<FuzzOperation> {
  let smallest = operation;
  for (let again = true; again;) {
    again = false;
    for (const smaller of reductions(parse(smallest.query))) {
      const candidate = { ...smallest, query: print(withoutUnused(smaller)) };
      if (validate(schema, parse(candidate.query)).length > 0) continue;
      if (!(await isDifferent(candidate))) continue;
      smallest = candidate;
      again = true;
      break;
    }
  }
  return smallest;
}

/** Returns the document without unused fragments and variables. */
export function withoutUnused(document: DocumentNode): DocumentNode {
  const spreads = new Set<string>();
  visit(document, { FragmentSpread: ({ name }) => void spreads.add(name.value) });
  const definitions = document.definitions.filter((each) => each.kind !== Kind.FRAGMENT_DEFINITION || spreads.has(each.name.value));
  if (definitions.length < document.definitions.length) return withoutUnused({ ...document, definitions });
  const variables = new Set<string>();
  for (const definition of definitions)
    if ('selectionSet' in definition) visit(definition.selectionSet, { Variable: ({ name }) => void variables.add(name.value) });
  return visit(document, { VariableDefinition: ({ variable }) => (variables.has(variable.name.value) ? undefined : null) });
}

function reductions(document: DocumentNode): DocumentNode[] {
  const sets: SelectionSetNode[] = [];
  visit(document, { SelectionSet: (set) => void sets.push(set) });
  const replaced = (set: SelectionSetNode, selections: readonly SelectionNode[]) =>
    visit(document, { SelectionSet: (each) => (each === set ? { ...set, selections } : undefined) });
  return sets.flatMap((set) =>
    set.selections.flatMap((selection, i) => {
      const others = set.selections.filter((_, j) => j !== i);
      const inner = selection.kind === Kind.INLINE_FRAGMENT ? selection.selectionSet.selections : [];
      const bare = selection.directives?.length ? [replaced(set, set.selections.with(i, { ...selection, directives: [] }))] : [];
      return [
        ...bare,
        ...(others.length > 0 ? [replaced(set, others)] : []),
        ...(inner.length > 0 ? [replaced(set, [...others, ...inner])] : []),
      ];
    }),
  );
}
