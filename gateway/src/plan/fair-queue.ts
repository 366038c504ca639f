/** Tasks that wait, taken from each client in turn, so that one client's many do not hold up another client's few. */

export interface Queued {
  /** The client; tasks of one client are taken in the order in which they came. */
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

  /** Returns false, and does not take the task, when the queue or the client's share of it is full. */
  push(task: T): boolean {
    const waiting = this.#byClient.get(task.client) ?? [];
    if (waiting.length >= this.#limits.maxPerClient || this.#bytes + task.bytes > this.#limits.maxBytes) return false;
    this.#bytes += task.bytes;
    waiting.push(task);
    this.#byClient.set(task.client, waiting);
    return true;
  }

  /** Takes the next task of the client whose turn it is. */
  shift(): T | undefined {
    const [entry] = this.#byClient;
    if (!entry) return undefined;
    const [client, waiting] = entry;
    const task = waiting.shift();
    // A Map keeps the order of insertion: the client goes to its end.
    this.#byClient.delete(client);
    if (waiting.length > 0) this.#byClient.set(client, waiting);
    this.#bytes -= task?.bytes ?? 0;
    return task;
  }
}
