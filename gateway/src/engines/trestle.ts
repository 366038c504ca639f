/** The engine `trestle`: plans operations in the planner's threads, executes them here, and writes each result once. */
import type { Log } from '@trestle/log';
import type { Registry } from 'prom-client';
import { createBufferPool } from '../execute/buffer-pool.ts';
import type { ResponseCache } from '../cache/response-cache.ts';
import { ArenaPool } from '../execute/bytes/arena.ts';
import { createBytesExecutor } from '../execute/bytes/bytes-executor.ts';
import { type ExecutorName, OBJECT_EXECUTOR } from '../execute/executor.ts';
import type { Hooks } from '../extensions/compile-hooks.ts';
import { createCostMetrics } from '../observability/cost-metrics.ts';
import { createExcessReport } from '../observability/excess-report.ts';
import { createUnprotectedReport } from '../observability/unprotected-report.ts';
import { createExecutionCounter } from '../observability/execution-metrics.ts';
import { registerOperationCache } from '../observability/request-metrics.ts';
import { createLagMetric, registerStreams } from '../observability/subscription-metrics.ts';
import { createCanaryMetrics } from '../observability/supergraph-metrics.ts';
import { type StartPlanner, THREAD_LIMITS, startPlannerThread } from '../plan/threads/planner-thread.ts';
import type { Measure } from '../request/context.ts';
import type { UsageFormat } from '../request/operation-usage.ts';
import { type RegistryOptions, SubscriptionRegistry } from '../subscriptions/subscription-registry.ts';
import type { CanarySettings } from '../launches/canary-judge.ts';
import { type Delivered, readDelivered } from '../launches/delivered.ts';
import { createSnapshot } from '../supergraph/snapshot.ts';
import { WARM_UP, type WarmUpSettings } from '../supergraph/warm-up.ts';
import type { Upstreams } from '../upstream/upstream.ts';
import type { Engine, RuntimeSettings } from './engine.ts';
import { OperationRun } from './operation-run.ts';
import { ServedSnapshots } from './served-snapshots.ts';
import type { SharedExecutions } from './shared-executions.ts';

export interface TrestleEngineOptions extends RuntimeSettings {
  /** What the source has delivered. */
  readonly supergraphSdl: string;
  /** Default: 200 operations, 30 s. */
  readonly warmUp?: WarmUpSettings | undefined;
  readonly canary: CanarySettings;
  /** What programs say of their use. By default nothing, because usage is not reported. */
  readonly usageFormat?: UsageFormat | undefined;
  /** Whether equal fetches of entities become one. Default: they do. */
  readonly batchesEntities?: boolean | undefined;
  readonly upstreams: Upstreams;
  readonly measure: Measure;
  /** Returns whether several clients are present, which then share the time of planning. By default it never does. */
  readonly isShared?: (() => boolean) | undefined;
  /** Starts a planner for each supergraph. Default: a thread of this process. */
  readonly startPlanner?: StartPlanner | undefined;
  readonly executor: ExecutorName;
  /** Whether the memory of a request is overwritten when it is released: for development and tests. */
  readonly isOverwriting: boolean;
  readonly subscriptions: Pick<RegistryOptions, 'maxSubscriptions' | 'reconnectMs'>;
  readonly log: Log;
  readonly metrics: Registry;
  readonly hooks: Hooks;
  /** Keeps results; undefined for none. */
  readonly cache?: ResponseCache | undefined;
  /** Shares executions of equal queries; undefined for none. */
  readonly shared?: SharedExecutions | undefined;
}

/** Rejects with the reason for an invalid supergraph. */
export async function createTrestleEngine(options: TrestleEngineOptions): Promise<Engine> {
  const { upstreams, measure, log, metrics, hooks, cache, shared, isOverwriting } = options;
  const { isShared = () => false, startPlanner = startPlannerThread } = options;
  const { usageFormat, batchesEntities = true } = options;
  const planning = { keepsFetches: cache?.entities !== undefined, usageFormat, batchesEntities };
  const load = async ({ sdl, launch }: Pick<Delivered, 'sdl' | 'launch'>, { limits, labels, accessOf, addresses }: RuntimeSettings) => {
    const planner = await startPlanner(sdl, limits, { ...THREAD_LIMITS, ...planning, isShared });
    return createSnapshot({ planner, launch, upstreams: upstreams.at(addresses), measure, labels, accessOf });
  };
  const delivered = readDelivered(options.supergraphSdl);
  // Before metrics are registered: after a supergraph that is not valid, the copy on disk gets an engine with the same registry.
  const current = await load(delivered, options);
  const buffers = createBufferPool(options.limits.maxResponseBytes, { isOverwriting });
  const writing = { buffers, log, subgraphErrors: (service: string) => snapshots.settings.subgraphErrors(service) };
  const executor =
    options.executor === 'bytes'
      ? createBytesExecutor({ buffers, arenas: new ArenaPool({ isOverwriting }), count: createExecutionCounter(metrics) })
      : OBJECT_EXECUTOR;
  const registry = new SubscriptionRegistry({ ...options.subscriptions, ...writing, hooks, observeLag: createLagMetric(metrics) });
  const snapshots = await ServedSnapshots.create(
    { delivered, settings: options, current },
    {
      load,
      onSwitch: (snapshot) => {
        registry.swap(snapshot);
      },
      warmUp: options.warmUp ?? WARM_UP,
      canary: options.canary,
      metrics: createCanaryMetrics(metrics),
      log,
    },
  );
  const parts = { ...createReports(metrics, log), registry, executor, writing, measure, hooks, cache, shared };
  registerOperationCache(metrics, () => snapshots.current.counts);
  registerStreams(metrics, () => registry.counts);
  return {
    execute(request, done) {
      snapshots.run(request, done, (snapshot, end) => {
        const { limits } = snapshots.settings;
        new OperationRun({ request, snapshot, limits, ...parts }, end).start();
      });
    },
    swap: (text) => snapshots.swap(text),
    reconfigure: (next, onSwitch) => snapshots.reconfigure(next, onSwitch),
    describe: (query) => snapshots.current.planner.describe(query),
    get hash() {
      return snapshots.current.hash;
    },
    get served() {
      return snapshots.served;
    },
    watchReturns: (notify) => {
      snapshots.watchReturns(notify);
    },
    stop: async () => {
      registry.stop();
      await snapshots.stop();
      await upstreams.close();
    },
  };
}

/** Creates what reports operations in metrics and in the log. */
function createReports(metrics: Registry, log: Log) {
  return {
    costs: createCostMetrics(metrics),
    reportExcess: createExcessReport(metrics, log),
    reportUnprotected: createUnprotectedReport(metrics, log),
  };
}
