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
import { createExecutionCounter } from '../observability/execution-metrics.ts';
import { registerOperationCache } from '../observability/request-metrics.ts';
import { createLagMetric, registerStreams } from '../observability/subscription-metrics.ts';
import { THREAD_LIMITS, startPlannerThread } from '../plan/planner-thread.ts';
import type { Measure } from '../request/context.ts';
import { type RegistryOptions, SubscriptionRegistry } from '../subscriptions/subscription-registry.ts';
import { type Delivered, readDelivered } from '../launches/delivered.ts';
import { createSnapshot } from '../supergraph/snapshot.ts';
import { WARM_UP, type WarmUpSettings, warmUp } from '../supergraph/warm-up.ts';
import type { Upstreams } from '../upstream/upstream.ts';
import type { Engine, RuntimeSettings } from './engine.ts';
import { OperationRun } from './operation-run.ts';

export interface TrestleEngineOptions extends RuntimeSettings {
  /** What the source has delivered. */
  readonly supergraphSdl: string;
  /** Default: 200 operations, 30 s. */
  readonly warmUp?: WarmUpSettings | undefined;
  readonly upstreams: Upstreams;
  readonly measure: Measure;
  /** Returns whether several clients are present, which then share the time of planning. By default it never does. */
  readonly isShared?: (() => boolean) | undefined;
  readonly executor: ExecutorName;
  /** Whether the memory of a request is overwritten when it is released: for development and tests. */
  readonly isOverwriting: boolean;
  readonly subscriptions: Pick<RegistryOptions, 'maxSubscriptions' | 'reconnectMs'>;
  readonly log: Log;
  readonly metrics: Registry;
  readonly hooks: Hooks;
  /** Keeps results; undefined for none. */
  readonly cache?: ResponseCache | undefined;
}

/** Rejects with the reason for an invalid supergraph. */
export async function createTrestleEngine(options: TrestleEngineOptions): Promise<Engine> {
  const { upstreams, measure, log, metrics, hooks, cache, isOverwriting, isShared = () => false } = options;
  const load = async ({ sdl, launch }: Pick<Delivered, 'sdl' | 'launch'>, { limits, labels, accessOf, addresses }: RuntimeSettings) => {
    const planner = await startPlannerThread(sdl, limits, { ...THREAD_LIMITS, isShared, keepsFetches: cache?.entities !== undefined });
    return createSnapshot({ planner, launch, upstreams: upstreams.at(addresses), measure, labels, accessOf });
  };
  let settings: RuntimeSettings = options;
  let delivered = readDelivered(options.supergraphSdl);
  let current = await load(delivered, settings);
  const buffers = createBufferPool(settings.limits.maxResponseBytes, { isOverwriting });
  const writing = { buffers, log, subgraphErrors: (service: string) => settings.subgraphErrors(service) };
  const executor =
    options.executor === 'bytes'
      ? createBytesExecutor({ buffers, arenas: new ArenaPool({ isOverwriting }), count: createExecutionCounter(metrics) })
      : OBJECT_EXECUTOR;
  const registry = new SubscriptionRegistry({ ...options.subscriptions, ...writing, hooks, observeLag: createLagMetric(metrics) });
  registry.swap(current);
  const costs = createCostMetrics(metrics);
  registerOperationCache(metrics, () => current.counts);
  registerStreams(metrics, () => registry.counts);
  const replace = async (given: Delivered, nextSettings: RuntimeSettings) => {
    const next = await load(given, nextSettings);
    await warmUp(next, current, { ...WARM_UP, ...options.warmUp, log });
    const last = current;
    [current, delivered, settings] = [next, given, nextSettings];
    last.planner.retire();
    registry.swap(next);
  };
  const inOrder = createQueue();
  return {
    execute(request, done) {
      const { limits } = settings;
      new OperationRun({ request, snapshot: current, limits, costs, registry, executor, writing, measure, hooks, cache }, done).start();
    },
    swap: (text) =>
      inOrder(async () => {
        const given = readDelivered(text);
        // Another release of the same supergraph: nothing needs to be planned, and no subscription is planned again.
        if (given.sdl === delivered.sdl) [delivered, current.launch] = [given, given.launch];
        else await replace(given, settings);
      }),
    reconfigure: (next) => inOrder(() => replace(delivered, next)),
    describe: (query) => current.planner.describe(query),
    get hash() {
      return current.hash;
    },
    get served() {
      return [{ role: 'current' as const, hash: current.hash, launch: current.launch }];
    },
    stop: async () => {
      registry.stop();
      await current.planner.stop();
      await upstreams.close();
    },
  };
}

/** Returns a function that runs changes one after the other: each begins with what the one before has left. */
function createQueue(): (change: () => Promise<void>) => Promise<void> {
  let last = Promise.resolve();
  return (change) => {
    const done = last.then(change);
    last = done.catch(() => undefined);
    return done;
  };
}
