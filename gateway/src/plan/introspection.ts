/** Answers `__schema` and `__type` beside whatever else an operation asks for. */
import {
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
  executeSync,
  visit,
} from 'graphql';
import type { GuardedSet, Selections } from './selection.ts';

export interface Introspection {
  /** Whether its answer depends on variables. */
  readonly isOpen: boolean;
  /** JSON texts by response key. */
  answer(variables: Readonly<Record<string, unknown>>): Record<string, string>;
}

export interface IntrospectionInput {
  readonly schema: GraphQLSchema;
  readonly operation: OperationDefinitionNode;
  readonly fragments: readonly FragmentDefinitionNode[];
  readonly selections: Selections;
  readonly sets: readonly GuardedSet[];
}

/** Undefined when the operation asks for none. */
export function findIntrospection({ schema, operation, fragments, selections, sets }: IntrospectionInput): Introspection | undefined {
  const root = schema.getRootType(operation.operation);
  if (!root) return undefined;
  const nodes = selections
    .collect(root, sets)
    .filter(({ name }) => name === '__schema' || name === '__type')
    .flatMap((field) => field.nodes.map((node): SelectionNode => ({ ...node, directives: [] })));
  if (nodes.length === 0) return undefined;
  const only = { ...operation, directives: [], selectionSet: { kind: Kind.SELECTION_SET, selections: nodes } } as OperationDefinitionNode;
  const document: DocumentNode = { kind: Kind.DOCUMENT, definitions: [only, ...fragments] };
  let isOpen = false;
  for (const definition of [only.selectionSet, ...fragments]) visit(definition, { Variable: () => void (isOpen = true) });
  return {
    isOpen,
    answer(variables) {
      // Checked already; a default that only the schema of inputs knows is no introspection's.
      const { data } = executeSync({ schema, document, rootValue: {}, variableValues: variables });
      return Object.fromEntries(Object.entries(data ?? {}).map(([key, value]) => [key, JSON.stringify(value)]));
    },
  };
}
