/** Limits of documents that are sent to a subgraph. They are beyond what the gateway sends, and hold for who calls a subgraph directly. */
import { TOO_MANY_FIELD_PAIRS, hasTooManyFieldPairs } from '@trestle/schema/field-pairs';
import {
  type DocumentNode,
  type FragmentDefinitionNode,
  GraphQLError,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';

/** The most tokens of a document. The gateway accepts less than a tenth of that from its clients, and adds keys and type names. */
export const MAX_TOKENS = 50_000;
/** The most operations of a document: validation visits each fragment once for each operation. The gateway sends one. */
const MAX_OPERATIONS = 50;
/** The most root fields of an operation, each of which reads its rows into memory. The gateway accepts as many by default. */
const MAX_ROOT_FIELDS = 50;

/** Returns an error for the first limit that a document exceeds. It takes less time than validation would. */
export function findExcess({ definitions }: DocumentNode): GraphQLError | undefined {
  const operations = definitions.filter((each): each is OperationDefinitionNode => each.kind === Kind.OPERATION_DEFINITION);
  if (operations.length > MAX_OPERATIONS)
    return toError(`Operation count ${String(operations.length)} exceeds the limit of ${String(MAX_OPERATIONS)}.`, operations[0]);
  const fragments = new Map(
    definitions
      .filter((each): each is FragmentDefinitionNode => each.kind === Kind.FRAGMENT_DEFINITION)
      .map(({ name, selectionSet }) => [name.value, selectionSet]),
  );
  for (const operation of operations) {
    const count = countFields(operation.selectionSet, fragments, new Set());
    if (count > MAX_ROOT_FIELDS)
      return toError(`Root field count ${String(count)} exceeds the limit of ${String(MAX_ROOT_FIELDS)}.`, operation);
  }
  return hasTooManyFieldPairs({ kind: Kind.DOCUMENT, definitions }) ? toError(TOO_MANY_FIELD_PAIRS, operations[0]) : undefined;
}

type Fragments = ReadonlyMap<string, SelectionSetNode>;

/** Counts the fields of a selection set and of its fragments, each fragment once (GraphQL specification §6.3.2). */
function countFields({ selections }: SelectionSetNode, fragments: Fragments, entered: Set<string>): number {
  let count = 0;
  for (const selection of selections) {
    if (selection.kind === Kind.FIELD) count++;
    else if (selection.kind === Kind.INLINE_FRAGMENT) count += countFields(selection.selectionSet, fragments, entered);
    else if (!entered.has(selection.name.value)) {
      entered.add(selection.name.value);
      const fragment = fragments.get(selection.name.value);
      if (fragment) count += countFields(fragment, fragments, entered);
    }
  }
  return count;
}

function toError(message: string, node: OperationDefinitionNode | undefined): GraphQLError {
  return new GraphQLError(message, { ...(node && { nodes: [node] }) });
}
