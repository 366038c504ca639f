/** A worker's planner: asks the one that the workers share, in the primary. While the primary does not answer, it plans in a thread of its own. */
import { createHash } from 'node:crypto';
import { deserialize } from 'node:v8';
import type { Log } from '@trestle/log';
import { type Fault, fail } from '@trestle/schema/errors';
import type { Limits } from '../limits/limits.ts';
import type { PlannerResult, PlannerSeed, PlannerTask } from '../plan/threads/planner-messages.ts';
import {
  type PlannerThread,
  type PlannerThreadLimits,
  type StartPlanner,
  type TaskRunner,
  toPlanner,
} from '../plan/threads/planner-thread.ts';
import { PlannerThreads, QUEUE, TOO_MANY_WAIT, sizeOf } from '../plan/threads/planner-threads.ts';
import { PlannerUnavailable } from '../plan/threads/planner-unavailable.ts';
import type { SupergraphFacts } from '../plan/planner.ts';
import { LocatedFault } from '../program/located-fault.ts';
import type { PlanFault } from './messages.ts';
import type { PlannerChannel } from './planner-channel.ts';

/** The most tasks of one supergraph that a worker waits for. */
const MAX_WAITING = 2000;

interface Parts {
  readonly channel: PlannerChannel;
  readonly log: Pick<Log, 'warn'>;
}

/** Returns what opens planners of the primary. */
export function createStartPlanner(parts: Parts): StartPlanner {
  return async (sdl, limits, threadLimits) => {
    const planner = new RemotePlanner({ ...parts, sdl, limits, threadLimits });
    return planner.open();
  };
}

interface Options extends Parts {
  readonly sdl: string;
  readonly limits: Limits;
  readonly threadLimits: PlannerThreadLimits;
}

class RemotePlanner implements TaskRunner {
  readonly #options: Options;
  readonly #key: string;
  /** The threads of this process; started when the primary does not answer, and then used for good. */
  #own: { readonly threads: PlannerThreads; readonly facts: Promise<SupergraphFacts> } | undefined;
  #usesPrimary = true;
  #waiting = 0;
  #waitingBytes = 0;
  #state: 'open' | 'retired' | 'closed' = 'open';
  /** Reject what waits when the planner is stopped. */
  readonly #rejections = new Set<(reason: Error) => void>();

  constructor(options: Options) {
    this.#options = options;
    this.#key = createHash('sha256')
      .update(JSON.stringify([options.sdl, this.#seed()]))
      .digest('base64');
  }

  /** Rejects as `startPlannerThread`. */
  async open(): Promise<PlannerThread> {
    const { channel, sdl } = this.#options;
    const key = this.#key;
    let reply = await channel.ask((id) => ({ kind: 'open planner', id, key }));
    if (reply?.kind === 'planner unknown')
      reply = await channel.ask((id) => ({ kind: 'open planner', id, key, seed: { ...this.#seed(), sdl } }));
    if (reply?.kind === 'planner refused') throw reply.isPassing ? new PlannerUnavailable(reply.reason) : new Error(reply.reason);
    return toPlanner(reply?.kind === 'planner opened' ? reply.facts : await this.#startOwn().facts, this);
  }

  async run(task: PlannerTask, client?: string): Promise<PlannerResult> {
    if (this.#state === 'closed') throw fail('SERVICE_UNAVAILABLE', 'The gateway is shutting down.');
    const bytes = sizeOf(task);
    if (this.#waiting >= MAX_WAITING || this.#waitingBytes + bytes > QUEUE.maxBytes) throw fail('SERVICE_UNAVAILABLE', TOO_MANY_WAIT);
    this.#waiting++;
    this.#waitingBytes += bytes;
    try {
      return await this.#untilStopped(this.#usesPrimary ? this.#ask(task, client) : this.#runOwn(task, client));
    } finally {
      this.#waiting--;
      this.#waitingBytes -= bytes;
      this.#closeIfRetired();
    }
  }

  retire(): void {
    if (this.#state === 'open') this.#state = 'retired';
    this.#closeIfRetired();
  }

  async stop(): Promise<void> {
    for (const reject of this.#rejections) reject(fail('SERVICE_UNAVAILABLE', 'The gateway is shutting down.'));
    await this.#close();
  }

  #untilStopped(result: Promise<PlannerResult>): Promise<PlannerResult> {
    return new Promise((resolve, reject) => {
      this.#rejections.add(reject);
      result.then(resolve, reject).finally(() => this.#rejections.delete(reject));
    });
  }

  async #ask(task: PlannerTask, client: string | undefined): Promise<PlannerResult> {
    const { channel, threadLimits } = this.#options;
    const isShared = threadLimits.isShared?.() ?? false;
    const reply = await channel.ask((id) => ({ kind: 'plan', id, key: this.#key, task, client, isShared }));
    if (reply?.kind === 'planned') return deserialize(reply.result) as PlannerResult;
    if (reply?.kind === 'not planned') throw toFault(reply.fault);
    return this.#runOwn(task, client);
  }

  async #runOwn(task: PlannerTask, client: string | undefined): Promise<PlannerResult> {
    if (this.#state === 'closed') throw fail('SERVICE_UNAVAILABLE', 'The gateway is shutting down.');
    const { threads, facts } = this.#startOwn();
    await facts;
    return threads.run(task, client);
  }

  #startOwn() {
    if (this.#own) return this.#own;
    const { channel, log, sdl, limits, threadLimits } = this.#options;
    if (this.#usesPrimary) {
      log.warn('the primary process does not answer; this worker plans by itself until the next supergraph');
      channel.send({ kind: 'close planner', key: this.#key });
      this.#usesPrimary = false;
    }
    const threads = new PlannerThreads({ sdl, limits, isShared: () => false, ...threadLimits });
    const own = { threads, facts: threads.start() };
    // The next task tries again.
    own.facts.catch(() => (this.#own = undefined));
    return (this.#own = own);
  }

  #closeIfRetired(): void {
    if (this.#state === 'retired' && this.#waiting === 0) void this.#close();
  }

  async #close(): Promise<void> {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    if (this.#usesPrimary) this.#options.channel.send({ kind: 'close planner', key: this.#key });
    await this.#own?.threads.stop();
  }

  #seed(): Omit<PlannerSeed, 'sdl'> {
    const { limits, threadLimits } = this.#options;
    const { keepsFetches = false, usageFormat, batchesEntities = true } = threadLimits;
    return { limits, keepsFetches, usageFormat, batchesEntities };
  }
}

function toFault({ code, message, locations, reason }: PlanFault): Fault {
  const options = reason === undefined ? {} : { cause: new Error(reason) };
  return locations ? new LocatedFault(code, message, { ...options, locations }) : fail(code, message, options);
}
