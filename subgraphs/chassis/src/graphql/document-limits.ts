/** Limits of documents that are sent to a subgraph. They are beyond what the gateway sends, and hold for who calls a subgraph directly. */
import { type ASTVisitor, GraphQLError, Kind, type SelectionSetNode, type ValidationContext } from 'graphql';

/** The most tokens of a document. The gateway accepts less than a tenth of that from its clients, and adds keys and type names. */
export const MAX_TOKENS = 50_000;
/** The most root fields of an operation. The gateway accepts 20 (contract §6). */
const MAX_ROOT_FIELDS = 50;

/** A validation rule that reports VALIDATION_ERROR for an operation with too many root fields: each reads its rows into memory. */
export function limitRootFields(context: ValidationContext): ASTVisitor {
  return {
    OperationDefinition(operation) {
      const count = countFields(context, operation.selectionSet, new Set());
      if (count <= MAX_ROOT_FIELDS) return;
      const message = `Root field count ${String(count)} exceeds the limit of ${String(MAX_ROOT_FIELDS)}.`;
      context.reportError(new GraphQLError(message, { nodes: [operation], extensions: { code: 'VALIDATION_ERROR' } }));
    },
  };
}

/** Counts the fields of a selection set and of its fragments, each fragment once (GraphQL specification §6.3.2). */
function countFields(context: ValidationContext, { selections }: SelectionSetNode, entered: Set<string>): number {
  let count = 0;
  for (const selection of selections) {
    if (selection.kind === Kind.FIELD) count++;
    else if (selection.kind === Kind.INLINE_FRAGMENT) count += countFields(context, selection.selectionSet, entered);
    else if (!entered.has(selection.name.value)) {
      entered.add(selection.name.value);
      const fragment = context.getFragment(selection.name.value);
      if (fragment) count += countFields(context, fragment.selectionSet, entered);
    }
  }
  return count;
}
