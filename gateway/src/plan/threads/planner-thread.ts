/** The planner, for the serving thread. */
import type { Limits } from '../../limits/limits.ts';
import type { IntrospectionResults } from '../../program/program.ts';
import type { OperationDescription } from '../../request/operation-description.ts';
import type { SlotOptions } from './planner-slot.ts';
import type { PlannerResult, PlannerTask } from './planner-messages.ts';
import { PlannerThreads } from './planner-threads.ts';
import type { PrepareRequest, Prepared, SupergraphFacts } from '../planner.ts';

export interface PlannerThreadLimits extends Pick<
  SlotOptions,
  'timeoutMs' | 'maxHeapMb' | 'keepsFetches' | 'usageFormat' | 'batchesEntities'
> {
  /** Returns whether several clients are present: then each gets at most a share of the time of planning. By default it never does. */
  readonly isShared?: () => boolean;
}

export const THREAD_LIMITS: PlannerThreadLimits = { timeoutMs: 10_000, maxHeapMb: 2048 };

export interface PlannerThread {
  readonly facts: SupergraphFacts;
  /**
   * Throws TooMuchWork (VALIDATION_ERROR) for a document that takes too much time or memory, and for a minute afterwards without planning it again.
   * Throws SERVICE_UNAVAILABLE when a queue is full, INTERNAL_ERROR for a fault of the planner. Clients, as named by `client`, take turns.
   */
  prepare(request: PrepareRequest, client?: string): Promise<Prepared>;
  introspect(request: PrepareRequest, variables: Readonly<Record<string, unknown>>, client?: string): Promise<IntrospectionResults>;
  /** Describes the operations of a document for agents. Throws VALIDATION_ERROR for a document that is not valid. */
  describe(query: string): Promise<readonly OperationDescription[]>;
  /** Stops the threads when every task is done. */
  retire(): void;
  stop(): Promise<void>;
}

/** Starts the planner of a supergraph: a thread of this process, or one that processes share. Rejects as {@link startPlannerThread}. */
export type StartPlanner = (sdl: string, limits: Limits, threadLimits: PlannerThreadLimits) => Promise<PlannerThread>;

/** What does the tasks of a planner. */
export interface TaskRunner extends Pick<PlannerThread, 'retire' | 'stop'> {
  /** Rejects as `prepare` of {@link PlannerThread}. */
  run(task: PlannerTask, client?: string): Promise<PlannerResult>;
}

/** Starts a thread for the supergraph. Rejects with the reason when the supergraph cannot be served. */
export async function startPlannerThread(sdl: string, limits: Limits, threadLimits = THREAD_LIMITS): Promise<PlannerThread> {
  const threads = new PlannerThreads({ sdl, limits, isShared: () => false, ...threadLimits });
  return toPlanner(await threads.start(), threads);
}

/** Returns the planner whose tasks a runner does. */
export function toPlanner(facts: SupergraphFacts, runner: TaskRunner): PlannerThread {
  return {
    facts,
    async prepare(request, client) {
      const result = await runner.run({ kind: 'prepare', request }, client);
      return result.kind === 'prepared' ? result.prepared : { errors: [] };
    },
    async introspect(request, variables, client) {
      const result = await runner.run({ kind: 'introspect', request, variables }, client);
      return result.kind === 'introspected' ? result.results : {};
    },
    async describe(query) {
      const request = { query, operationName: undefined, labels: [] };
      const result = await runner.run({ kind: 'describe', request });
      return result.kind === 'described' ? result.operations : [];
    },
    retire() {
      runner.retire();
    },
    stop: () => runner.stop(),
  };
}
