/** Finds the results of the introspection fields of an operation. */
import type { IntrospectionResults } from '../program/program.ts';
import type { OperationRequest } from '../request/operation.ts';
import type { Snapshot } from '../supergraph/snapshot.ts';
import type { CheckedOperation } from './check-planned.ts';

const NO_INTROSPECTION: IntrospectionResults = {};

/** Returns the results; a promise of them if they depend on variables, because these come from the planner's thread. */
export function findIntrospection(
  { operation, conditions }: CheckedOperation,
  { query, operationName, context }: OperationRequest,
  { planner }: Snapshot,
): IntrospectionResults | Promise<IntrospectionResults> {
  const { introspection } = operation.program;
  if (!introspection) return NO_INTROSPECTION;
  return introspection.fixed ?? planner.introspect({ query, operationName, labels: [] }, conditions, context.client);
}
