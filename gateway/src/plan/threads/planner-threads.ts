/**
 * The threads of the planner, and the order of their tasks. Light documents are planned in one thread. Documents that turn out to be heavy are given
 * to a second thread, so that only heavy documents wait for heavy ones. In both queues clients take turns.
 */
import { INTERNAL_ERROR_MESSAGE, fail } from '@trestle/schema/errors';
import { createBufferRelease } from '@trestle/service/process/garbage-collection';
import { LocatedFault } from '../../program/located-fault.ts';
import { FairQueue, type Queued } from './fair-queue.ts';
import { type SlotOptions, PlannerSlot } from './planner-slot.ts';
import { type PlannerResult, type PlannerTask, buffersOf } from './planner-messages.ts';
import type { SupergraphFacts } from '../planner.ts';
import { PlanningTime } from './planning-time.ts';
import { RefusedDocuments, TooMuchWork } from './refused-documents.ts';

/** Limits of a queue: the bytes of all documents that wait, and the number of documents of one client. */
export const QUEUE = { maxBytes: 16 * 1024 * 1024, maxPerClient: 200 };
export const TOO_MANY_WAIT = 'Too many new documents wait to be planned. Send fewer at a time, or retry later.';
/** After this time of planning one document, the second thread takes the documents that wait behind it. */
const PATIENCE_MS = 200;
/** The second thread exits after this time without a task, to free its memory. */
const IDLE_MS = 5000;
/** While several clients are present, each gets at most this share of the time. */
const SHARED_TIME = { share: 0.5, burstMs: 100, maxPauseMs: 1000 };
/** V8 collects the young generation after this many bytes of introspection results. Each has some hundred KB, and is sent once. */
const RELEASE_BYTES = 8 * 1024 * 1024;

/** The client of tasks that the gateway itself starts. */
const OWN_TASKS = '';

interface Waiting extends Queued {
  readonly task: PlannerTask;
  readonly resolve: (result: PlannerResult) => void;
  readonly reject: (error: Error) => void;
}

export interface PlannerThreadsOptions extends Omit<SlotOptions, 'onFree' | 'onEnd'> {
  /** Returns whether several clients are present: then each gets at most a share of the time of planning. */
  readonly isShared: () => boolean;
}

/** Does tasks in the two threads. */
export class PlannerThreads {
  readonly #options: PlannerThreadsOptions;
  readonly #light: PlannerSlot;
  /** Started when it is first needed. */
  #heavy: PlannerSlot | undefined;
  readonly #lightQueue = new FairQueue<Waiting>(QUEUE);
  readonly #heavyQueue = new FairQueue<Waiting>(QUEUE);
  readonly #refused = new RefusedDocuments();
  readonly #release = createBufferRelease(RELEASE_BYTES);
  readonly #time = new PlanningTime(SHARED_TIME);
  /** The last task of each thread, until its time is counted. */
  readonly #running = new Map<PlannerSlot, { readonly client: string; readonly startedAt: number }>();
  #patience: NodeJS.Timeout | undefined;
  #pause: NodeJS.Timeout | undefined;
  #idle: NodeJS.Timeout | undefined;
  #open = 0;
  #isRetired = false;
  /** The reason why no more tasks are done; undefined while they are. */
  #ended: unknown;

  constructor(options: PlannerThreadsOptions) {
    this.#options = options;
    this.#light = this.#createSlot((reason) => {
      this.#end(reason, fail('INTERNAL_ERROR', INTERNAL_ERROR_MESSAGE, { cause: reason }));
    });
  }

  start(): Promise<SupergraphFacts> {
    return this.#light.start();
  }

  async run(task: PlannerTask, client = OWN_TASKS): Promise<PlannerResult> {
    if (this.#ended) throw fail('INTERNAL_ERROR', INTERNAL_ERROR_MESSAGE, { cause: this.#ended });
    if (this.#refused.has(task)) throw new TooMuchWork();
    this.#open++;
    try {
      let result = await this.#enqueue(this.#lightQueue, task, client);
      if (result.kind === 'heavy') result = await this.#enqueue(this.#heavyQueue, task, client);
      if (result.kind === 'invalid') {
        const { message, locations = [] } = result.error;
        throw new LocatedFault('VALIDATION_ERROR', message, { locations });
      }
      this.#release(buffersOf(result).reduce((sum, { byteLength }) => sum + byteLength, 0));
      if (result.kind === 'failed') throw fail('INTERNAL_ERROR', INTERNAL_ERROR_MESSAGE, { cause: new Error(result.reason) });
      return result;
    } catch (error) {
      if (error instanceof TooMuchWork) this.#refused.add(task);
      throw error;
    } finally {
      this.#open--;
      this.#endIfRetired();
    }
  }

  retire(): void {
    this.#isRetired = true;
    this.#endIfRetired();
  }

  async stop(): Promise<void> {
    this.#end(new Error('The planner was stopped'), fail('SERVICE_UNAVAILABLE', 'The gateway is shutting down.'));
    await Promise.all([this.#light.stop(), this.#heavy?.stop()]);
  }

  #createSlot(onEnd: SlotOptions['onEnd']): PlannerSlot {
    const onFree = () => {
      this.#dispatch();
    };
    return new PlannerSlot({ ...this.#options, onFree, onEnd });
  }

  #enqueue(queue: FairQueue<Waiting>, task: PlannerTask, client: string): Promise<PlannerResult> {
    return new Promise((resolve, reject) => {
      if (this.#ended) throw fail('INTERNAL_ERROR', INTERNAL_ERROR_MESSAGE, { cause: this.#ended });
      const isTaken = queue.push({ task, client, bytes: sizeOf(task), resolve, reject });
      if (!isTaken) throw fail('SERVICE_UNAVAILABLE', TOO_MANY_WAIT);
      this.#dispatch();
    });
  }

  #dispatch(): void {
    if (this.#ended) return;
    this.#countTime();
    if (this.#light.isFree) this.#run(this.#light, this.#lightQueue, true);
    // Light documents come first when one that takes longer than estimated delays them.
    const isHeldUp = !this.#lightQueue.isEmpty && this.#light.isBusyFor(PATIENCE_MS);
    if (!this.#heavyQueue.isEmpty || isHeldUp) this.#startHeavy();
    if (this.#heavy?.isFree && !(isHeldUp && this.#run(this.#heavy, this.#lightQueue, true)))
      this.#run(this.#heavy, this.#heavyQueue, false);
    if (!this.#lightQueue.isEmpty) this.#lookAgain();
    this.#endPauses();
    if (this.#heavy?.isFree) this.#endWhenIdle(this.#heavy);
  }

  #endWhenIdle(heavy: PlannerSlot): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => {
      if (this.#heavy !== heavy || !heavy.isFree) return;
      this.#heavy = undefined;
      void heavy.stop();
    }, IDLE_MS).unref();
  }

  /** Runs a task in a free thread. Returns false when no client with a task may have one now. */
  #run(slot: PlannerSlot, queue: FairQueue<Waiting>, isLight: boolean): boolean {
    const next = queue.shift((client) => this.#pauseOf(client) === 0);
    if (!next) return false;
    this.#running.set(slot, { client: next.client, startedAt: performance.now() });
    slot.run({ ...next.task, isLight }).then(next.resolve, next.reject);
    return true;
  }

  /** Counts the time of tasks that have ended. */
  #countTime(): void {
    for (const [slot, { client, startedAt }] of this.#running) {
      if (!slot.isFree) continue;
      this.#running.delete(slot);
      if (client !== OWN_TASKS && this.#options.isShared()) this.#time.spend(client, performance.now() - startedAt);
    }
  }

  #pauseOf(client: string): number {
    return this.#options.isShared() ? this.#time.pauseOf(client) : 0;
  }

  /** Runs tasks of clients that have used their share once one of them may have more. */
  #endPauses(): void {
    const queues = [...(this.#light.isFree ? [this.#lightQueue] : []), ...(this.#heavy?.isFree ? [this.#heavyQueue] : [])];
    const pauses = queues.flatMap((queue) => Array.from(queue.clients, (client) => this.#pauseOf(client)));
    if (this.#pause || pauses.length === 0) return;
    this.#pause = setTimeout(
      () => {
        this.#pause = undefined;
        this.#dispatch();
      },
      Math.min(...pauses),
    ).unref();
  }

  #lookAgain(): void {
    if (this.#patience) return;
    this.#patience = setTimeout(() => {
      this.#patience = undefined;
      this.#dispatch();
    }, PATIENCE_MS).unref();
  }

  #startHeavy(): void {
    if (this.#heavy) return;
    // Light documents are planned without it; the next heavy document starts it again.
    const onEnd = (reason: unknown) => {
      if (this.#heavy) this.#running.delete(this.#heavy);
      this.#heavy = undefined;
      rejectAll(this.#heavyQueue, fail('INTERNAL_ERROR', INTERNAL_ERROR_MESSAGE, { cause: reason }));
    };
    this.#heavy = this.#createSlot(onEnd);
    this.#heavy.start().catch(onEnd);
  }

  #endIfRetired(): void {
    if (!this.#isRetired || this.#open > 0 || this.#ended) return;
    this.#ended = new Error('The planner was retired');
    void this.stop();
  }

  #end(reason: unknown, rejection: Error): void {
    this.#ended ??= reason;
    clearTimeout(this.#patience);
    clearTimeout(this.#pause);
    clearTimeout(this.#idle);
    for (const queue of [this.#lightQueue, this.#heavyQueue]) rejectAll(queue, rejection);
  }
}

/** Returns about how many bytes of memory a task takes while it waits. */
export function sizeOf(task: PlannerTask): number {
  const variables = task.kind === 'introspect' ? JSON.stringify(task.variables).length : 0;
  return 2 * (task.request.query.length + variables);
}

function rejectAll(queue: FairQueue<Waiting>, rejection: Error): void {
  for (let next = queue.shift(); next; next = queue.shift()) next.reject(rejection);
}
