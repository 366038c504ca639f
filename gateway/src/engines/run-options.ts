/** What an operation is run with. Types only. */
import type { ResponseCache } from '../cache/response-cache.ts';
import type { Executor } from '../execute/executor.ts';
import type { Writing } from '../execute/write-result.ts';
import type { Hooks } from '../extensions/compile-hooks.ts';
import type { Limits } from '../limits/limits.ts';
import type { CostMetrics } from '../observability/cost-metrics.ts';
import type { ReportExcess } from '../observability/excess-report.ts';
import type { ReportUnprotected } from '../observability/unprotected-report.ts';
import type { Measure } from '../request/context.ts';
import type { OperationRequest } from '../request/operation.ts';
import type { SubscriptionRegistry } from '../subscriptions/subscription-registry.ts';
import type { Snapshot } from '../supergraph/snapshot.ts';
import type { SharedExecutions } from './shared-executions.ts';

export interface RunOptions {
  readonly request: OperationRequest;
  readonly snapshot: Snapshot;
  readonly limits: Limits;
  readonly costs: CostMetrics;
  readonly reportExcess: ReportExcess;
  readonly reportUnprotected: ReportUnprotected;
  readonly registry: SubscriptionRegistry;
  readonly executor: Executor;
  readonly writing: Writing;
  readonly measure: Measure;
  readonly hooks: Hooks;
  /** Undefined where no results are kept. */
  readonly cache: ResponseCache | undefined;
  /** Undefined where each query is executed for itself. */
  readonly shared: SharedExecutions | undefined;
}
