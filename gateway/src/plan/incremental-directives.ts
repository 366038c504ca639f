/**
 * `@defer` and `@stream` in a document: their rules (proposal "Incremental Delivery", §5.7), and the document without them, by which an operation is
 * executed as a whole. `@stream` has no effect: lists arrive whole from the subgraphs, and a server need not split what it has.
 */
import { type DirectiveNode, type DocumentNode, GraphQLError, Kind, OperationTypeNode, type SelectionSetNode, visit } from 'graphql';

const INCREMENTAL: ReadonlySet<string> = new Set(['defer', 'stream']);

export function isIncrementalDirective({ name }: DirectiveNode): boolean {
  return INCREMENTAL.has(name.value);
}

/** Returns the errors of a document that is valid otherwise: too many directives, labels that are no literals or not unique, and deferred root fields. */
export function checkIncremental(document: DocumentNode, maxDeferred: number): GraphQLError[] {
  const errors: GraphQLError[] = [];
  const labels = new Set<string>();
  let count = 0;
  visit(document, {
    Directive: (directive) => {
      if (!isIncrementalDirective(directive)) return;
      count++;
      const label = directive.arguments?.find(({ name }) => name.value === 'label')?.value;
      if (!label || label.kind === Kind.NULL) return;
      if (label.kind !== Kind.STRING)
        errors.push(new GraphQLError(`The label of @${directive.name.value} must be a string literal.`, { nodes: [directive] }));
      else if (labels.has(label.value))
        errors.push(new GraphQLError('The labels of @defer and @stream must be unique.', { nodes: [directive] }));
      else labels.add(label.value);
    },
  });
  if (count > maxDeferred)
    errors.push(new GraphQLError(`The document has more than ${String(maxDeferred)} directives @defer and @stream.`));
  for (const each of document.definitions)
    if (each.kind === Kind.OPERATION_DEFINITION && each.operation !== OperationTypeNode.QUERY)
      errors.push(...findRootDefers(document, each));
  return errors;
}

/** Root fields of a mutation are executed one after the other, and a subscription has one for each event: neither can come later. */
function findRootDefers(
  document: DocumentNode,
  { operation, selectionSet }: { operation: OperationTypeNode; selectionSet: SelectionSetNode },
) {
  const errors: GraphQLError[] = [];
  const entered = new Set<string>();
  const look = (set: SelectionSetNode) => {
    for (const each of set.selections) {
      const found = each.directives?.find(isIncrementalDirective);
      if (found) errors.push(new GraphQLError(`@${found.name.value} is not allowed on root fields of a ${operation}.`, { nodes: [found] }));
      if (each.kind === Kind.INLINE_FRAGMENT) look(each.selectionSet);
      if (each.kind !== Kind.FRAGMENT_SPREAD || entered.has(each.name.value)) continue;
      entered.add(each.name.value);
      for (const fragment of document.definitions)
        if (fragment.kind === Kind.FRAGMENT_DEFINITION && fragment.name.value === each.name.value) look(fragment.selectionSet);
    }
  };
  look(selectionSet);
  return errors;
}

/** Whether a document has a directive of incremental delivery. */
export function isIncremental(document: DocumentNode): boolean {
  let isFound = false;
  visit(document, {
    Directive: (directive) => {
      isFound ||= isIncrementalDirective(directive);
    },
  });
  return isFound;
}

/** Returns the document without `@stream`, and without `@defer` too by default. */
export function withoutIncremental(document: DocumentNode, { keepsDefer = false } = {}): DocumentNode {
  return visit(document, {
    Directive: (directive) => (isIncrementalDirective(directive) && !(keepsDefer && directive.name.value === 'defer') ? null : undefined),
  });
}
