/** Parses the file of subscriptions whose events invalidate results. No I/O. */
import {
  type DocumentNode,
  type FieldNode,
  Kind,
  OperationTypeNode,
  type OperationDefinitionNode,
  type SelectionSetNode,
  parse,
  print,
  visit,
} from 'graphql';

/** Subscriptions to execute. */
export interface InvalidatingSubscriptions {
  /** The document, in which every selection set below the root selects `__typename`. */
  readonly query: string;
  /** The names of its operations. */
  readonly operationNames: readonly string[];
}

const MAX_TOKENS = 10_000;
const MAX_SUBSCRIPTIONS = 20;
const TYPENAME: FieldNode = { kind: Kind.FIELD, name: { kind: Kind.NAME, value: '__typename' } };

/**
 * Parses the text of RESPONSE_CACHE_SUBSCRIPTIONS_FILE: named subscriptions with one field each and no variables. Throws an Error that says what is
 * wrong.
 */
export function readSubscriptions(text: string): InvalidatingSubscriptions {
  const document = parseDocument(text);
  const operations = document.definitions.filter((each) => each.kind === Kind.OPERATION_DEFINITION);
  if (operations.length === 0 || operations.length > MAX_SUBSCRIPTIONS)
    throw new Error(`must have 1 to ${String(MAX_SUBSCRIPTIONS)} subscriptions`);
  const operationNames = operations.map(readName);
  if (new Set(operationNames).size < operationNames.length) throw new Error('must have subscriptions with different names');
  return { query: print(visit(document, { SelectionSet: (set, _, parent) => selectTypename(set, parent) })), operationNames };
}

function parseDocument(text: string): DocumentNode {
  try {
    return parse(text, { maxTokens: MAX_TOKENS, noLocation: true });
  } catch (error) {
    throw new Error(`must be a GraphQL document. ${(error as Error).message}`, { cause: error });
  }
}

/** Returns the name of an operation that can be executed by itself. */
function readName({ name, operation, variableDefinitions = [], selectionSet }: OperationDefinitionNode): string {
  if (operation !== OperationTypeNode.SUBSCRIPTION || !name) throw new Error('must have named subscriptions only');
  if (variableDefinitions.length > 0) throw new Error(`the subscription \`${name.value}\` must have no variables`);
  const [field, ...others] = selectionSet.selections;
  if (field?.kind !== Kind.FIELD || others.length > 0) throw new Error(`the subscription \`${name.value}\` must select one field`);
  return name.value;
}

/** A subscription has one root field (GraphQL §5.2.3), so that `__typename` must not be added there. */
function selectTypename(set: SelectionSetNode, parent: unknown): SelectionSetNode | undefined {
  const { kind } = parent as { readonly kind: Kind };
  return kind === Kind.OPERATION_DEFINITION ? undefined : { ...set, selections: [...set.selections, TYPENAME] };
}
