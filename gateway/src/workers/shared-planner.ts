/** A planner that workers share: its threads, the results that it has planned, and the workers that use it. */
import { createHash } from 'node:crypto';
import { serialize } from 'node:v8';
import { LRUCache } from 'lru-cache';
import type { PlannerResult, PlannerSeed, PlannerTask } from '../plan/threads/planner-messages.ts';
import { THREAD_LIMITS } from '../plan/threads/planner-thread.ts';
import { PlannerThreads } from '../plan/threads/planner-threads.ts';
import type { SupergraphFacts } from '../plan/planner.ts';

/** Results that are kept for the other workers, in serialized bytes. Larger ones, mostly of introspection, are not kept. */
const KEPT = { maxBytes: 16 * 1024 * 1024, maxResultBytes: 256 * 1024 };

/** How long the clients of a worker's last request count as present. */
const RECENT_MS = 5000;

export interface Asked {
  readonly client: string | undefined;
  /** The id of the worker. */
  readonly user: number;
  /** Whether the worker has several clients. */
  readonly isShared: boolean;
}

/** The planner of one supergraph, with its settings. */
export class SharedPlanner {
  readonly facts: Promise<SupergraphFacts>;
  readonly #threads: PlannerThreads;
  readonly #kept = new LRUCache<string, Uint8Array>({ maxSize: KEPT.maxBytes, sizeCalculation: ({ byteLength }) => byteLength });
  readonly #running = new Map<string, Promise<Uint8Array>>();
  /** How often each worker has opened it. */
  readonly #uses = new Map<number, number>();
  /** What each worker asked last. */
  readonly #asked = new Map<number, Asked & { readonly at: number }>();

  constructor(seed: PlannerSeed) {
    this.#threads = new PlannerThreads({ ...seed, ...THREAD_LIMITS, isShared: () => this.#isShared() });
    this.facts = this.#threads.start();
  }

  /** Returns the serialized result. Rejects as `PlannerThreads.run`. */
  run(task: PlannerTask, asked: Asked): Promise<Uint8Array> {
    this.#asked.set(asked.user, { ...asked, at: performance.now() });
    const key = createHash('sha256').update(JSON.stringify(task)).digest('base64');
    const kept = this.#kept.get(key);
    if (kept) return Promise.resolve(kept);
    const running = this.#running.get(key);
    if (running) return running;
    const planned = this.#threads
      .run(task, asked.client)
      .then((result) => this.#keep(key, result))
      .finally(() => this.#running.delete(key));
    this.#running.set(key, planned);
    return planned;
  }

  addUse(user: number): void {
    this.#uses.set(user, (this.#uses.get(user) ?? 0) + 1);
  }

  /** Returns whether nothing uses the planner from now on. */
  removeUse(user: number): boolean {
    const left = (this.#uses.get(user) ?? 1) - 1;
    if (left > 0) this.#uses.set(user, left);
    else this.removeUser(user);
    return this.#uses.size === 0;
  }

  /** Returns whether nothing uses the planner from now on. */
  removeUser(user: number): boolean {
    this.#uses.delete(user);
    this.#asked.delete(user);
    return this.#uses.size === 0;
  }

  retire(): void {
    this.#threads.retire();
  }

  /** Returns whether several clients are present: at one worker, or each at another one. */
  #isShared(): boolean {
    const since = performance.now() - RECENT_MS;
    const recent = [...this.#asked.values()].filter(({ at }) => at >= since);
    return recent.some(({ isShared }) => isShared) || new Set(recent.flatMap(({ client }) => client ?? [])).size > 1;
  }

  #keep(key: string, result: PlannerResult): Uint8Array {
    const bytes = serialize(result);
    if (result.kind === 'prepared' && bytes.byteLength <= KEPT.maxResultBytes) this.#kept.set(key, bytes);
    return bytes;
  }
}
