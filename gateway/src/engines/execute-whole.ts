/** Executes an operation whose result is one response. */
import { type Executor, OBJECT_EXECUTOR } from '../execute/executor.ts';
import type { SendFetch } from '../execute/execute.ts';
import { createPlanReport } from '../execute/plan-report.ts';
import type { Writing } from '../execute/write-result.ts';
import type { Limits } from '../limits/limits.ts';
import type { CostMetrics } from '../observability/cost-metrics.ts';
import type { IntrospectionResults } from '../program/program.ts';
import type { RequestContext } from '../request/context.ts';
import type { OperationRequest } from '../request/operation.ts';
import type { Snapshot } from '../supergraph/snapshot.ts';
import type { CheckedOperation } from './check-planned.ts';
import { type Ending, findActualCost, writeExecuted } from './write-executed.ts';

/** What an engine executes with. */
export interface ExecutingParts {
  readonly request: OperationRequest;
  readonly snapshot: Pick<Snapshot, 'hash'>;
  readonly executor: Executor;
  readonly writing: Writing;
  readonly limits: Pick<Limits, 'costMode'>;
  readonly costs: Pick<CostMetrics, 'observeActual'>;
}

/** One execution. */
export interface WholeExecution {
  readonly checked: CheckedOperation;
  /** That of the request, with the span of the execution. */
  readonly context: RequestContext;
  readonly send: SendFetch;
  readonly introspection: IntrospectionResults;
}

/** Calls back once, with the response and the reports that the client wants. Throws, also within callbacks of `send`, when the response is too large. */
export function executeWhole(parts: ExecutingParts, execution: WholeExecution, done: (ending: Ending) => void): void {
  const { request, snapshot, writing, limits, costs } = parts;
  const { checked, context, send, introspection } = execution;
  const { operation, variables, conditions } = checked;
  const report = request.reports.plan ? createPlanReport() : undefined;
  const executor = context.upload ? OBJECT_EXECUTOR : parts.executor;
  const needsCost = request.reports.cost || limits.costMode === 'measure';
  const [observe, needsObjects] = [report?.observe, request.reports.plan];
  executor.execute({ operation, variables, conditions, context, send, observe, needsObjects, needsCost }, (result) => {
    const actual = needsCost ? findActualCost(result, checked) : undefined;
    if (actual !== undefined) costs.observeActual(actual);
    done(writeExecuted(result, { request, checked, writing, introspection, report, actual, hash: snapshot.hash }));
  });
}
