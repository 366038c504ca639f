/**
 * `@defer` and `@stream` in a document: their rules (proposal "Incremental Delivery", §5.7), and the document without them, by which an operation is
 * executed as a whole. `@stream` is checked, and has no effect (ADR 37).
 */
import {
  type DirectiveNode,
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  OperationTypeNode,
  type SelectionSetNode,
  TypeInfo,
  getNullableType,
  isListType,
  visit,
  visitWithTypeInfo,
} from 'graphql';

const INCREMENTAL: ReadonlySet<string> = new Set(['defer', 'stream']);

export function isIncrementalDirective({ name }: DirectiveNode): boolean {
  return INCREMENTAL.has(name.value);
}

export interface IncrementalRules {
  readonly schema: GraphQLSchema;
  /** The most directives `@defer` and `@stream` of a document. */
  readonly maxDeferred: number;
}

/**
 * Returns the errors of a document that is valid otherwise: too many directives, labels that are no literals or not unique, deferred root fields, and
 * `@stream` on what is no list or with a negative count.
 */
export function checkIncremental(document: DocumentNode, { schema, maxDeferred }: IncrementalRules): GraphQLError[] {
  const errors: GraphQLError[] = [];
  const labels = new Set<string>();
  const types = new TypeInfo(schema);
  let count = 0;
  const refuse = (message: string, node: DirectiveNode) => errors.push(new GraphQLError(message, { nodes: [node] }));
  const look = (directive: DirectiveNode) => {
    if (!isIncrementalDirective(directive)) return;
    count++;
    if (directive.name.value === 'stream') {
      const field = types.getFieldDef();
      if (field && !isListType(getNullableType(field.type)))
        refuse(`@stream is not allowed on ${field.name}, which is no list.`, directive);
      const initial = argumentOf(directive, 'initialCount');
      if (initial?.kind === Kind.INT && initial.value.startsWith('-')) refuse('initialCount of @stream must not be negative.', directive);
    }
    const label = argumentOf(directive, 'label');
    if (!label || label.kind === Kind.NULL) return;
    if (label.kind !== Kind.STRING) refuse(`The label of @${directive.name.value} must be a string literal.`, directive);
    else if (labels.has(label.value)) refuse('The labels of @defer and @stream must be unique.', directive);
    else labels.add(label.value);
  };
  visit(document, visitWithTypeInfo(types, { Directive: look }));
  if (count > maxDeferred)
    errors.push(new GraphQLError(`The document has more than ${String(maxDeferred)} directives @defer and @stream.`));
  for (const each of document.definitions)
    if (each.kind === Kind.OPERATION_DEFINITION && each.operation !== OperationTypeNode.QUERY)
      errors.push(...findRootDefers(document, each));
  return errors;
}

/** Returns the number of directives `@defer` and `@stream` of a document. */
export function countIncremental(document: DocumentNode): number {
  let count = 0;
  visit(document, {
    Directive(directive) {
      if (isIncrementalDirective(directive)) count++;
    },
  });
  return count;
}

function argumentOf(directive: DirectiveNode, argument: string) {
  return directive.arguments?.find(({ name }) => name.value === argument)?.value;
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
