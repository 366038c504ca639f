/** The checks of an operation that depend on its variables, in both engines: coercion, and the limits of nesting and of cost (contract §6). */
import { fail } from '@trestle/schema/errors';
import { readVariables } from '../execute/variables.ts';
import { type Limits, limitCost, limitVariables } from '../limits/limits.ts';
import { requireOneSlicingArgument } from '../limits/require-slicing.ts';
import type { Compiled, Program } from '../program/program.ts';
import type { OperationRequest } from '../request/operation.ts';

/** What an operation is checked by. */
export interface CheckableOperation extends Pick<Program, 'kind' | 'variables' | 'location' | 'sliced'> {
  /** The estimated cost for its variables. */
  readonly cost: Compiled['cost'];
}

/** An operation within all limits. */
export interface OperationChecks {
  /** The variables with the operation's defaults. */
  readonly conditions: Readonly<Record<string, unknown>>;
  /** The estimated cost. */
  readonly cost: number;
}

/** Throws METHOD_NOT_ALLOWED, VALIDATION_ERROR. */
export function checkOperation(operation: CheckableOperation, request: OperationRequest, limits: Limits): OperationChecks {
  const { kind, variables, location, sliced } = operation;
  if (kind === 'mutation' && request.isReadOnly) throw fail('METHOD_NOT_ALLOWED', 'Mutations must be sent by POST.');
  limitVariables(request.variables, limits, (name) => variables.find((each) => each.name === name)?.location);
  const conditions = readVariables(variables, request.variables);
  requireOneSlicingArgument(sliced, conditions);
  const cost = operation.cost(conditions);
  limitCost(cost, limits, location);
  return { conditions, cost };
}
