/**
 * Requests that wait for a connection, limited in number and bytes. Clients take turns, so that few requests of one do not wait for many of another.
 * No I/O.
 */

/** How much may wait. */
export interface WaitingLimits {
  /** The most requests that wait for a connection. Default 10,000. */
  readonly maxWaiting?: number;
  /** The most bytes of the requests that wait. Default 32 MB. */
  readonly maxWaitingBytes?: number;
}

/** What is known of a request that waits. */
export interface Waiting {
  /** The client that it is sent for. */
  readonly client: string | undefined;
  /** On the clock of `performance.now`. */
  readonly deadline: number;
  /** Bytes. */
  readonly length: number;
}

const MAX_WAITING = 10_000;
const MAX_WAITING_BYTES = 32 * 1024 * 1024;

/** The requests that wait for a connection of one pool. */
export class WaitingRequests<Request extends Waiting> {
  readonly #limits: Required<WaitingLimits>;
  /** In the order of their arrival. */
  readonly #requests = new Set<Request>();
  /** Those of each client; a Map keeps the order of insertion, which is that of their turns. */
  readonly #byClient = new Map<string | undefined, Set<Request>>();
  #bytes = 0;

  constructor({ maxWaiting = MAX_WAITING, maxWaitingBytes = MAX_WAITING_BYTES }: WaitingLimits) {
    this.#limits = { maxWaiting, maxWaitingBytes };
  }

  get size(): number {
    return this.#requests.size;
  }

  /** Adds a request as the last one of its client. Returns false when a limit would be exceeded. */
  add(request: Request): boolean {
    const { maxWaiting, maxWaitingBytes } = this.#limits;
    if (this.#requests.size >= maxWaiting || this.#bytes + request.length > maxWaitingBytes) return false;
    this.#requests.add(request);
    const own = this.#byClient.get(request.client);
    if (own) own.add(request);
    else this.#byClient.set(request.client, new Set([request]));
    this.#bytes += request.length;
    return true;
  }

  /** Removes and returns those whose deadline is before `now`. A request that is sent again may wait behind ones with a later deadline. */
  takeOverdue(now: number): Request[] {
    const overdue = [...this.#requests].filter(({ deadline }) => now > deadline);
    for (const request of overdue) this.remove(request);
    return overdue;
  }

  /** Removes and returns the oldest request of the client whose turn it is. */
  take(): Request | undefined {
    const [turn] = this.#byClient;
    if (!turn) return undefined;
    const [client, own] = turn;
    const request = own.values().next().value;
    if (request) this.remove(request);
    // The client has its next turn after the others.
    if (this.#byClient.delete(client)) this.#byClient.set(client, own);
    return request;
  }

  /** Removes a request. Returns whether it was waiting. */
  remove(request: Request): boolean {
    if (!this.#requests.delete(request)) return false;
    this.#bytes -= request.length;
    const own = this.#byClient.get(request.client);
    own?.delete(request);
    if (own?.size === 0) this.#byClient.delete(request.client);
    return true;
  }
}
