/** Finds the `__schema` and `__type` fields of an operation, and resolves them. */
import {
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  type OperationDefinitionNode,
  getVariableValues,
  visit,
} from 'graphql';
import type { IntrospectionResults } from '../../program/program.ts';
import { type CollectedField, type GuardedSet, type Selections, areMet } from '../selections/selection.ts';
import { IntrospectionWriter } from './write-introspection.ts';

export interface Introspection {
  /** Whether the result depends on variables. */
  readonly isOpen: boolean;
  /** Throws a GraphQLError when the results have more than `maxBytes` bytes together. */
  answer(variables: Readonly<Record<string, unknown>>, maxBytes: number): IntrospectionResults;
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
  const fields = selections.collect(root, sets).filter(({ name }) => name === '__schema' || name === '__type');
  if (fields.length === 0) return undefined;
  const byName = new Map(fragments.map((each) => [each.name.value, each]));
  const used = findVariables(fields, byName);
  // A variable that is not used here must not be required (GraphQL §6.1.2).
  const definitions = (operation.variableDefinitions ?? []).filter(({ variable }) => used.has(variable.name.value));
  return {
    isOpen: used.size > 0,
    answer(given, maxBytes) {
      const { coerced = {}, errors } = getVariableValues(schema, definitions, given);
      if (errors?.[0]) throw errors[0];
      const writer = new IntrospectionWriter({ schema, fragments: byName, variables: coerced, maxBytes });
      const results: [key: string, bytes: Uint8Array][] = [];
      for (const { key, nodes, when } of fields) {
        const included = nodes.length === 1 ? nodes : nodes.filter((_, i) => areMet(when[i] ?? [], coerced));
        if (included.length > 0) results.push([key, writer.write(included)]);
      }
      return Object.fromEntries(results);
    },
  };
}

/**
 * Returns the names of all variables in the selections and in the fragments that they spread, directly or not. The conditions of a field count when it
 * is selected several times: otherwise the writer of the response decides whether the field is in it.
 */
function findVariables(fields: readonly CollectedField[], fragments: ReadonlyMap<string, FragmentDefinitionNode>): ReadonlySet<string> {
  const reached = new Set<FragmentDefinitionNode>();
  const variables = new Set<string>();
  const look = (node: FieldNode | FragmentDefinitionNode) => {
    visit(node, {
      Variable: ({ name }) => void variables.add(name.value),
      FragmentSpread({ name }) {
        const fragment = fragments.get(name.value);
        if (!fragment || reached.has(fragment)) return;
        reached.add(fragment);
        look(fragment);
      },
    });
  };
  for (const { nodes, when } of fields) {
    for (const node of nodes) look({ ...node, directives: [] });
    if (nodes.length > 1) for (const { variable } of when.flat()) variables.add(variable);
  }
  return variables;
}
