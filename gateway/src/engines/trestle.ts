/** The engine `trestle`: plans operations in the planner's threads, executes them here, and writes each result once. */
import type { Log } from '@trestle/log';
import type { Registry } from 'prom-client';
import type { SubgraphErrors } from '../errors/format-error.ts';
import type { AccessOf } from '../access/callers.ts';
import { createBufferPool } from '../execute/buffer-pool.ts';
import { createBytesExecutor } from '../execute/bytes/bytes-executor.ts';
import { type ExecutorName, OBJECT_EXECUTOR } from '../execute/executor.ts';
import type { Limits } from '../limits/limits.ts';
import { createExecutionCounter } from '../observability/execution-metrics.ts';
import { registerOperationCache } from '../observability/request-metrics.ts';
import { createLagMetric, registerStreams } from '../observability/subscription-metrics.ts';
import { startPlannerThread } from '../plan/planner-thread.ts';
import { type RegistryOptions, SubscriptionRegistry } from '../subscriptions/subscription-registry.ts';
import { type Snapshot, createSnapshot } from '../supergraph/snapshot.ts';
import type { Upstreams } from '../upstream/upstream.ts';
import type { Engine } from './engine.ts';
import { OperationRun } from './operation-run.ts';

export interface TrestleEngineOptions {
  readonly supergraphSdl: string;
  readonly upstreams: Upstreams;
  readonly limits: Limits;
  /** Active labels of progressive `@override`. */
  readonly labels: readonly string[];
  /** Returns the rights of a caller, for `@authenticated`, `@requiresScopes` and `@policy`. */
  readonly accessOf: AccessOf;
  readonly executor: ExecutorName;
  readonly subscriptions: Pick<RegistryOptions, 'maxSubscriptions' | 'reconnectMs'>;
  readonly log: Log;
  /** What clients see of subgraphs' errors. */
  readonly subgraphErrors: SubgraphErrors;
  readonly metrics: Registry;
}

/** The most used operations, which are planned before a new supergraph is served. */
const WARM_OPERATIONS = 200;

/** Rejects with the reason for an invalid supergraph. */
export async function createTrestleEngine(options: TrestleEngineOptions): Promise<Engine> {
  const { supergraphSdl, upstreams, limits, labels, accessOf, log, subgraphErrors, metrics } = options;
  const load = async (sdl: string) => createSnapshot({ planner: await startPlannerThread(sdl, limits), upstreams, labels, accessOf });
  let current = await load(supergraphSdl);
  const buffers = createBufferPool(limits.maxResponseBytes);
  const writing = { buffers, log, subgraphErrors };
  const executor =
    options.executor === 'bytes' ? createBytesExecutor({ buffers, count: createExecutionCounter(metrics) }) : OBJECT_EXECUTOR;
  const registry = new SubscriptionRegistry({ ...options.subscriptions, ...writing, observeLag: createLagMetric(metrics) });
  registry.swap(current);
  registerOperationCache(metrics, () => current.counts);
  registerStreams(metrics, () => registry.counts);
  return {
    execute(request, done) {
      new OperationRun({ request, snapshot: current, limits, registry, executor, writing }, done).start();
    },
    async swap(sdl) {
      const next = await load(sdl);
      await warmUp(next, current);
      const last = current;
      current = next;
      last.planner.retire();
      registry.swap(next);
    },
    get hash() {
      return current.hash;
    },
    stop: async () => {
      registry.stop();
      await current.planner.stop();
      await upstreams.close();
    },
  };
}

/** Plans the most used operations of the last snapshot. One that fails is planned again when it is requested. */
async function warmUp(next: Snapshot, last: Snapshot): Promise<void> {
  for (const { request, access } of last.mostUsed(WARM_OPERATIONS)) await next.prepare(request, { access }).catch(() => undefined);
}
