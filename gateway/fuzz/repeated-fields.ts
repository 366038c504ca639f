/** Repeats fields of an operation under other names, so that entities are fetched at several paths. */
import { type GraphQLSchema, Kind, OperationTypeNode, type SelectionNode, parse, print, validate, visit } from 'graphql';
import type { FuzzOperation } from './operations.ts';
import type { Random } from './random.ts';

/** Returns the operation with some of its objects once more, some of them with fewer fields; as it is when it would not be valid. */
export function repeatFields({ query, variables }: FuzzOperation, schema: GraphQLSchema, random: Random): FuzzOperation {
  const document = parse(query, { noLocation: true });
  if (document.definitions.some((each) => each.kind === Kind.OPERATION_DEFINITION && each.operation !== OperationTypeNode.QUERY))
    return { query, variables };
  let count = 0;
  const repeat = (selection: SelectionNode): SelectionNode[] => {
    if (selection.kind !== Kind.FIELD || !selection.selectionSet || !random.chance(0.3)) return [selection];
    const alias = { kind: Kind.NAME, value: `again${String(count++)}` } as const;
    const { selections } = selection.selectionSet;
    const isShort = selections.length > 1 && random.chance(0.3);
    const left = isShort ? selections.slice(random.upTo(1), selections.length) : selections;
    const copy = { ...selection, alias, selectionSet: { ...selection.selectionSet, selections: left } };
    return random.chance(0.5) ? [selection, copy] : [copy, selection];
  };
  const repeated = visit(document, {
    SelectionSet: { leave: (set) => ({ ...set, selections: set.selections.flatMap(repeat) }) },
  });
  return validate(schema, repeated).length > 0 ? { query, variables } : { query: print(repeated), variables };
}
