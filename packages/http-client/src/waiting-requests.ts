/**
 * Requests that wait for a connection, limited in number and bytes. Clients take turns, so that few requests of one do not wait for many of another.
 * No I/O.
 */
import type { PendingRequest } from './pending-request.ts';

/** How much may wait. */
export interface WaitingLimits {
  readonly maxRequests: number;
  readonly maxBytes: number;
}

/** The requests that wait for a connection of one pool. */
export class WaitingRequests {
  readonly #limits: WaitingLimits;
  /** In the order of their arrival. */
  readonly #requests = new Set<PendingRequest>();
  /** Those of each client; a Map keeps the order of insertion, which is that of their turns. */
  readonly #byClient = new Map<string | undefined, Set<PendingRequest>>();
  #bytes = 0;

  constructor(limits: WaitingLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#requests.size;
  }

  /** Adds a request as the last one of its client. Returns false when a limit would be exceeded. */
  add(request: PendingRequest): boolean {
    const { maxRequests, maxBytes } = this.#limits;
    if (this.#requests.size >= maxRequests || this.#bytes + request.length > maxBytes) return false;
    this.#requests.add(request);
    const own = this.#byClient.get(request.client);
    if (own) own.add(request);
    else this.#byClient.set(request.client, new Set([request]));
    this.#bytes += request.length;
    return true;
  }

  /** Removes and returns those whose deadline is before `now`. A request that is sent again may wait behind ones with a later deadline. */
  takeOverdue(now: number): PendingRequest[] {
    const overdue = [...this.#requests].filter(({ deadline }) => now > deadline);
    for (const request of overdue) this.remove(request);
    return overdue;
  }

  /** Removes and returns the oldest request of the client whose turn it is. */
  take(): PendingRequest | undefined {
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
  remove(request: PendingRequest): boolean {
    if (!this.#requests.delete(request)) return false;
    this.#bytes -= request.length;
    const own = this.#byClient.get(request.client);
    own?.delete(request);
    if (own?.size === 0) this.#byClient.delete(request.client);
    return true;
  }
}
