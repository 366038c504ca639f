/** The checks of an operation that depend on its variables, in both engines: coercion, and the limits of nesting and of cost (contract §6). */
import { fail } from '@trestle/schema/errors';
import { readVariables } from '../execute/variables.ts';
import { type Limits, toCostFault } from '../limits/limits.ts';
import { measureOperation } from '../limits/measured-limits.ts';
import { requireOneSlicingArgument } from '../limits/require-slicing.ts';
import type { CostMetrics } from '../observability/cost-metrics.ts';
import type { ReportExcess } from '../observability/excess-report.ts';
import type { Compiled, Program } from '../program/program.ts';
import type { OperationRequest } from '../request/operation.ts';

/** What an operation is checked by. */
export interface CheckableOperation extends Pick<Program, 'kind' | 'name' | 'variables' | 'location' | 'sliced' | 'exceeded'> {
  /** The estimated cost for its variables. */
  readonly cost: Compiled['cost'];
}

/** What the checks need besides the operation. */
export interface CheckParts {
  readonly limits: Limits;
  readonly costs: CostMetrics;
  readonly reportExcess: ReportExcess;
}

/** An operation that may be executed. */
export interface OperationChecks {
  /** The variables with the operation's defaults. */
  readonly conditions: Readonly<Record<string, unknown>>;
  /** The estimated cost. */
  readonly cost: number;
}

/** Counts the estimated cost. Throws METHOD_NOT_ALLOWED, VALIDATION_ERROR. */
export function checkOperation(operation: CheckableOperation, request: OperationRequest, parts: CheckParts): OperationChecks {
  const { limits, costs, reportExcess } = parts;
  const { kind, name, variables, location, sliced } = operation;
  if (kind === 'mutation' && request.isReadOnly) throw fail('METHOD_NOT_ALLOWED', 'Mutations must be sent by POST.');
  const locate = (variable: string) => variables.find((each) => each.name === variable)?.location;
  const exceeded = measureOperation(operation.exceeded, request.variables, { limits, locate });
  const conditions = readVariables(variables, request.variables);
  requireOneSlicingArgument(sliced, conditions);
  const cost = operation.cost(conditions);
  costs.observeEstimated(cost);
  if (cost > limits.maxCost) {
    const isRefused = limits.costMode === 'enforce';
    costs.countExcess(name, isRefused ? 'refused' : 'executed');
    if (isRefused) throw toCostFault(cost, limits, location);
  }
  if (exceeded) reportExcess(exceeded, { name, requestId: request.context.requestId });
  return { conditions, cost };
}
