/** Writes what an executor has returned, with the reports that the client wants. */
import { toRefusedResult } from '../errors/format-error.ts';
import type { Executed } from '../execute/execute.ts';
import type { Assembled } from '../execute/executor.ts';
import type { PlanReport } from '../execute/plan-report.ts';
import { type Writing, type WrittenResult, writeAssembled, writeResult } from '../execute/write-result.ts';
import type { IntrospectionResults } from '../program/program.ts';
import type { OperationRequest, OperationResult } from '../request/operation.ts';
import type { CheckedOperation } from './check-planned.ts';
import { writeReports } from './write-reports.ts';

/** How a run ends. */
export interface Ending extends Pick<
  OperationResult,
  'outcome' | 'status' | 'challenge' | 'retryAfterSeconds' | 'bytes' | 'length' | 'rest'
> {
  /** Whether several requests have the bytes, which then go back to no pool. */
  readonly isShared?: boolean;
}

export interface WritingParts {
  readonly request: OperationRequest;
  readonly checked: CheckedOperation;
  readonly writing: Writing;
  readonly introspection: IntrospectionResults;
  readonly report: PlanReport | undefined;
  /** The actual cost; undefined when it is not needed. */
  readonly actual: number | undefined;
  /** Of the supergraph. */
  readonly hash: string;
}

/** Returns the actual cost of a result; undefined for one that was assembled without it. */
export function findActualCost(result: Executed | Assembled, { operation, conditions }: CheckedOperation): number | undefined {
  return 'assembled' in result ? result.cost : operation.compiled.actualCost(result.data, conditions);
}

/** Throws when the response is too large. */
export function writeExecuted(result: Executed | Assembled, parts: WritingParts): Ending {
  const { request, checked, writing, introspection, report, actual, hash } = parts;
  const { operation, cost: estimated } = checked;
  const extensions = writeReports(request.reports, { operation, cost: { estimated, actual }, plan: report, hash });
  const { bytes, length, errors, isNull }: WrittenResult =
    'assembled' in result
      ? writeAssembled(result, extensions, { context: request.context, writing })
      : writeResult(result, { introspection, extensions }, writing);
  if (errors.length > 0 && request.usage) request.usage.errors = errors;
  const refused = isNull ? toRefusedResult(null, errors) : undefined;
  return {
    outcome: isNull ? 'failed' : errors.length > 0 ? 'partial' : 'complete',
    status: refused?.status,
    challenge: refused?.challenge,
    bytes,
    length,
  };
}
