/** What is checked of a planned operation before it is executed: denied fields, the limits that depend on variables, and files. */
import { refuseDenied, toDenialErrors } from '../access/denial.ts';
import { checkFiles } from '../execute/check-files.ts';
import { addAliases } from '../execute/variables.ts';
import { toPlannedPolicy } from '../program/cache-rule.ts';
import type { Operation } from '../program/operation.ts';
import type { CachePolicy } from '../request/cache-policy.ts';
import type { OperationRequest } from '../request/operation.ts';
import type { ReportUnprotected } from '../observability/unprotected-report.ts';
import { type CheckParts, checkOperation } from './check-operation.ts';

/** An operation with its variables, within the limits. */
export interface CheckedOperation {
  readonly operation: Operation;
  readonly variables: Readonly<Record<string, unknown>>;
  /** The variables with the operation's defaults. */
  readonly conditions: Readonly<Record<string, unknown>>;
  /** The estimated cost. */
  readonly cost: number;
  /** How long the schema allows to cache the result; undefined for not at all. */
  readonly caching: CachePolicy | undefined;
}

/** What the checks of a planned operation need besides it. */
export interface PlannedCheckParts extends CheckParts {
  readonly reportUnprotected: ReportUnprotected;
}

/**
 * Coerces the variables and checks the limits that depend on them. Throws METHOD_NOT_ALLOWED, VALIDATION_ERROR, and where operations with
 * denied fields are refused UNAUTHORIZED or FORBIDDEN.
 */
export function checkPlanned(operation: Operation, request: OperationRequest, parts: PlannedCheckParts): CheckedOperation {
  const { program, compiled } = operation;
  const { caller, requestId } = request.context;
  const { kind, name, location, sliced, exceeded, variables: declared } = program;
  const checkable = { kind, name, location, sliced, exceeded, variables: declared, cost: compiled.cost };
  const { conditions, cost } = checkOperation(checkable, request, parts);
  if (program.unprotected) parts.reportUnprotected(toDenialErrors(program.unprotected, conditions, caller), { name, requestId });
  if (parts.limits.deniedFields === 'refuse') refuseDenied(program.denials, conditions, caller);
  const variables = addAliases(declared, request.variables);
  if (request.context.upload) checkFiles(program, variables);
  return { operation, variables, conditions, cost, caching: toPlannedPolicy(program.caching, conditions) };
}
