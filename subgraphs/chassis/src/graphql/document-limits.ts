/** Limits of documents that are sent to a subgraph. They are beyond what the gateway sends, and hold for who calls a subgraph directly. */
import { TOO_MANY_FIELD_PAIRS, hasTooManyFieldPairs } from '@trestle/schema/field-pairs';
import {
  type DocumentNode,
  type FragmentDefinitionNode,
  type FragmentSpreadNode,
  GraphQLError,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import { MAX_NESTING } from './nesting-limit.ts';

/** The most tokens of a document. The gateway accepts less than a tenth of that from its clients, and adds keys and type names. */
export const MAX_TOKENS = 50_000;
/** The most operations of a document: validation visits each fragment once for each operation. The gateway sends one. */
const MAX_OPERATIONS = 50;
/** The most root fields of an operation, each of which reads its rows into memory. The gateway accepts as many by default. */
const MAX_ROOT_FIELDS = 50;
const TOO_DEEP = `The document has fragments that are nested deeper than the limit of ${String(MAX_NESTING)} levels.`;

/**
 * Returns an error for the first limit that a document exceeds, or for a fragment that is spread within itself. It takes less time than validation
 * would. `limitNesting` has limited the nesting of the text.
 */
export function findExcess({ definitions }: DocumentNode): GraphQLError | undefined {
  const operations = definitions.filter((each): each is OperationDefinitionNode => each.kind === Kind.OPERATION_DEFINITION);
  if (operations.length > MAX_OPERATIONS)
    return toError(`Operation count ${String(operations.length)} exceeds the limit of ${String(MAX_OPERATIONS)}.`, operations[0]);
  const fragments = new Map(
    definitions
      .filter((each): each is FragmentDefinitionNode => each.kind === Kind.FRAGMENT_DEFINITION)
      .map(({ name, selectionSet }) => [name.value, selectionSet]),
  );
  const fault = findDeepSpread(definitions, fragments);
  if (fault) return fault;
  for (const operation of operations) {
    const count = countFields(operation.selectionSet, fragments, new Set());
    if (count > MAX_ROOT_FIELDS)
      return toError(`Root field count ${String(count)} exceeds the limit of ${String(MAX_ROOT_FIELDS)}.`, operation);
  }
  return hasTooManyFieldPairs({ kind: Kind.DOCUMENT, definitions }) ? toError(TOO_MANY_FIELD_PAIRS, operations[0]) : undefined;
}

/** Validation and execution follow the spreads of fragments by recursion: fragments add their levels to those of what spreads them. */
function findDeepSpread(definitions: DocumentNode['definitions'], fragments: Fragments): GraphQLError | undefined {
  const levels = new Map<string, number>();
  const entered = new Set<string>();
  let fault: GraphQLError | undefined;
  /** Returns the levels of a selection set, those of its fragments included. Recurses at most MAX_NESTING times, and not after a fault. */
  const measure = ({ selections }: SelectionSetNode, outer: number): number => {
    if (outer >= MAX_NESTING) fault ??= new GraphQLError(TOO_DEEP);
    let deepest = 0;
    for (const selection of selections) {
      if (fault) break;
      if (selection.kind === Kind.FRAGMENT_SPREAD) deepest = Math.max(deepest, measureSpread(selection, outer + 1));
      else if (selection.selectionSet) deepest = Math.max(deepest, measure(selection.selectionSet, outer + 1));
    }
    return deepest + 1;
  };
  const measureSpread = (spread: FragmentSpreadNode, outer: number): number => {
    const name = spread.name.value;
    const fragment = fragments.get(name);
    if (!fragment) return 0;
    if (entered.has(name)) fault ??= new GraphQLError(`Cannot spread fragment "${name}" within itself.`, { nodes: [spread] });
    if (fault) return 0;
    entered.add(name);
    const found = levels.get(name) ?? measure(fragment, outer);
    entered.delete(name);
    levels.set(name, found);
    if (outer + found > MAX_NESTING) fault ??= new GraphQLError(TOO_DEEP, { nodes: [spread] });
    return found;
  };
  for (const definition of definitions) if ('selectionSet' in definition) measure(definition.selectionSet, 0);
  return fault;
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
