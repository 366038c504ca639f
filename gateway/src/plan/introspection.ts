/** Resolves the `__schema` and `__type` fields of an operation. */
import {
  type DocumentNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
  executeSync,
  visit,
} from 'graphql';
import type { GuardedSet, Selections } from './selection.ts';

export interface Introspection {
  /** Whether the result depends on variables. */
  readonly isOpen: boolean;
  /** Returns JSON texts by response key. Throws a GraphQLError when they have more than `maxBytes` bytes together. */
  answer(variables: Readonly<Record<string, unknown>>, maxBytes: number): Record<string, string>;
}

export interface IntrospectionInput {
  readonly schema: GraphQLSchema;
  readonly operation: OperationDefinitionNode;
  readonly fragments: readonly FragmentDefinitionNode[];
  readonly selections: Selections;
  readonly sets: readonly GuardedSet[];
}

/** Returns undefined for an operation without introspection. */
export function findIntrospection({ schema, operation, fragments, selections, sets }: IntrospectionInput): Introspection | undefined {
  const root = schema.getRootType(operation.operation);
  if (!root) return undefined;
  // The writer decides whether a field is in the response, so conditions of the field itself are left out here.
  const nodes = selections
    .collect(root, sets)
    .filter(({ name }) => name === '__schema' || name === '__type')
    .flatMap((field) => field.nodes.map((node): SelectionNode => ({ ...node, directives: [] })));
  if (nodes.length === 0) return undefined;
  const { reached, variables: used } = reach(nodes, fragments);
  const only: OperationDefinitionNode = {
    ...operation,
    directives: [],
    // A variable that is no longer used must not be required (GraphQL §6.1.2).
    variableDefinitions: (operation.variableDefinitions ?? []).filter(({ variable }) => used.has(variable.name.value)),
    selectionSet: { kind: Kind.SELECTION_SET, selections: nodes },
  };
  const document: DocumentNode = { kind: Kind.DOCUMENT, definitions: [only, ...reached] };
  return {
    isOpen: used.size > 0,
    answer(variables, maxBytes) {
      const { data, errors } = executeSync({ schema, document, rootValue: {}, variableValues: variables });
      if (errors?.[0]) throw errors[0];
      let bytes = 0;
      return Object.fromEntries(
        Object.entries(data ?? {}).map(([key, value]) => {
          const text = JSON.stringify(value);
          bytes += Buffer.byteLength(text);
          if (bytes > maxBytes)
            throw new GraphQLError(`The introspection result exceeds the limit of ${String(maxBytes)} bytes; select fewer fields`, {
              nodes,
              extensions: { code: 'VALIDATION_ERROR' },
            });
          return [key, text];
        }),
      );
    },
  };
}

/** Returns the fragments that the selections spread, directly or not, and the names of all variables in both. */
function reach(nodes: readonly SelectionNode[], fragments: readonly FragmentDefinitionNode[]) {
  const byName = new Map(fragments.map((each) => [each.name.value, each]));
  const reached = new Set<FragmentDefinitionNode>();
  const variables = new Set<string>();
  const look = (node: SelectionNode | FragmentDefinitionNode) => {
    visit(node, {
      Variable: ({ name }) => void variables.add(name.value),
      FragmentSpread({ name }) {
        const fragment = byName.get(name.value);
        if (!fragment || reached.has(fragment)) return;
        reached.add(fragment);
        look(fragment);
      },
    });
  };
  nodes.forEach(look);
  return { reached: [...reached], variables };
}
