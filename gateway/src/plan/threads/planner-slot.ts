/** A place for one planner thread, which does one task at a time. A thread is replaced when a task takes too long or makes the thread exit. */
import type { Worker } from 'node:worker_threads';
import { fail } from '@trestle/schema/errors';
import type { Limits } from '../../limits/limits.ts';
import type { UsageFormat } from '../../request/operation-usage.ts';
import { toPackageUrl } from '../../package-files.ts';
import { startBoundedWorker } from './bounded-worker.ts';
import type { PlannerMessage, PlannerReply, PlannerResult, PlannerSeed } from './planner-messages.ts';
import type { SupergraphFacts } from '../planner.ts';
import { PlannerUnavailable } from './planner-unavailable.ts';
import { TooMuchWork } from './refused-documents.ts';

export interface SlotOptions {
  readonly sdl: string;
  readonly limits: Limits;
  /** Whether results of fetches are kept: plans then say for how long. By default they are not. */
  readonly keepsFetches?: boolean;
  /** What programs say of their use. By default nothing, because usage is not reported. */
  readonly usageFormat?: UsageFormat | undefined;
  /** Whether equal fetches of entities become one. By default they do. */
  readonly batchesEntities?: boolean;
  /** A task that takes longer than this is refused, and its thread is replaced. */
  readonly timeoutMs: number;
  /** The largest heap of the thread, in MB; a thread that needs more exits, and the process goes on. */
  readonly maxHeapMb: number;
  /** Called whenever the thread can take a task: after it has started, and after each task. */
  readonly onFree: () => void;
  /** Called once when the thread has exited and cannot be started again. */
  readonly onEnd: (reason: unknown) => void;
}

/** Planning makes much short-lived garbage; a larger young generation costs more memory than it saves time. */
const YOUNG_HEAP_MB = 8;

/** Threads run the compiled file. Tests, which run this file as TypeScript, start that of the bundle: it loads in a third of the time. */
const WORKER = toPackageUrl(import.meta.url.endsWith('.ts') ? 'dist/bundle/planner-worker.js' : 'dist/plan/threads/planner-worker.js');

interface Running {
  readonly resolve: (result: PlannerResult) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
  readonly startedAt: number;
}

/** Holds a planner thread, which has its own copy of the supergraph. */
export class PlannerSlot {
  readonly #options: SlotOptions;
  #worker: Worker | undefined;
  #isUp = false;
  #isStopped = false;
  #running: Running | undefined;

  constructor(options: SlotOptions) {
    this.#options = options;
  }

  /** Resolves when the thread is up; rejects with the reason when the supergraph cannot be served, and with PlannerUnavailable. */
  async start(): Promise<SupergraphFacts> {
    const facts = await this.#startThread();
    this.#options.onFree();
    return facts;
  }

  get isFree(): boolean {
    return this.#isUp && !this.#running;
  }

  /** Whether its task has been running for longer than this. */
  isBusyFor(milliseconds: number): boolean {
    return this.#running !== undefined && performance.now() - this.#running.startedAt >= milliseconds;
  }

  /** Runs a task on the thread, which must be free. Rejects with TooMuchWork when the task takes too much time or memory. */
  run(message: PlannerMessage): Promise<PlannerResult> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#replace();
      }, this.#options.timeoutMs).unref();
      this.#running = { resolve, reject, timer, startedAt: performance.now() };
      this.#worker?.postMessage(message);
    });
  }

  /** Ends the thread; a task that is running is rejected with SERVICE_UNAVAILABLE. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#isUp = false;
    this.#take()?.reject(fail('SERVICE_UNAVAILABLE', 'The gateway is shutting down.'));
    await this.#worker?.terminate();
  }

  #startThread(): Promise<SupergraphFacts> {
    const { sdl, limits, maxHeapMb, keepsFetches = false, usageFormat, batchesEntities = true } = this.#options;
    return new Promise((resolve, reject) => {
      const seed: PlannerSeed = { sdl, limits, keepsFetches, usageFormat, batchesEntities };
      const worker = startBoundedWorker(WORKER, seed, { maxHeapMb, youngHeapMb: YOUNG_HEAP_MB });
      this.#worker = worker;
      worker.on('message', (reply: PlannerReply) => {
        if (reply.kind === 'ready') {
          this.#isUp = true;
          resolve(reply.facts);
        } else if (reply.kind === 'refused') reject(new Error(reply.reason));
        else if (this.#worker === worker) {
          this.#take()?.resolve(reply);
          this.#options.onFree();
        }
      });
      worker.on('error', (error) => {
        reject(new PlannerUnavailable(error));
      });
      worker.on('exit', () => {
        reject(new PlannerUnavailable('its thread ended'));
        // A thread that was never ready would not be ready the next time either.
        if (this.#isUp && this.#worker === worker) this.#replace();
      });
    });
  }

  /** Rejects the running task, and replaces the thread, which may still be busy with it. */
  #replace(): void {
    this.#isUp = false;
    this.#take()?.reject(new TooMuchWork());
    const ended = this.#worker?.terminate();
    this.#worker = undefined;
    Promise.resolve(ended)
      .then(() => (this.#isStopped ? undefined : this.#startThread()))
      .then(this.#options.onFree, this.#options.onEnd);
  }

  #take(): Running | undefined {
    const running = this.#running;
    this.#running = undefined;
    if (running) clearTimeout(running.timer);
    return running;
  }
}
