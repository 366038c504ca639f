/** A queue that serves clients in turn (round robin), so that many tasks of one client do not delay few tasks of another one. */

export interface Queued {
  /** The client; tasks of one client are taken in the order in which they were added. */
  readonly client: string;
  readonly bytes: number;
}

export interface QueueLimits {
  readonly maxBytes: number;
  readonly maxPerClient: number;
}

export class FairQueue<T extends Queued> {
  readonly #byClient = new Map<string, T[]>();
  readonly #limits: QueueLimits;
  #bytes = 0;

  constructor(limits: QueueLimits) {
    this.#limits = limits;
  }

  get isEmpty(): boolean {
    return this.#byClient.size === 0;
  }

  /** Adds a task. Returns false, and does not add it, when the queue or the client's share of it is full. */
  push(task: T): boolean {
    const waiting = this.#byClient.get(task.client) ?? [];
    if (waiting.length >= this.#limits.maxPerClient || this.#bytes + task.bytes > this.#limits.maxBytes) return false;
    this.#bytes += task.bytes;
    waiting.push(task);
    this.#byClient.set(task.client, waiting);
    return true;
  }

  /** The clients that have tasks, in the order of their turns. */
  get clients(): Iterable<string> {
    return this.#byClient.keys();
  }

  /** Removes and returns the next task of the first client in turn that may have one. */
  shift(mayRun: (client: string) => boolean = () => true): T | undefined {
    for (const [client, waiting] of this.#byClient) if (mayRun(client)) return this.#take(client, waiting);
    return undefined;
  }

  #take(client: string, waiting: T[]): T | undefined {
    const task = waiting.shift();
    // A Map keeps the order of insertion, so this moves the client to the end.
    this.#byClient.delete(client);
    if (waiting.length > 0) this.#byClient.set(client, waiting);
    this.#bytes -= task?.bytes ?? 0;
    return task;
  }
}
