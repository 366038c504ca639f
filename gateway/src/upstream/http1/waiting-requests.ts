/** Requests that wait for a connection, in the order of their arrival, limited in number and bytes. No I/O. */
import type { PendingRequest } from './pending-request.ts';

export interface WaitingLimits {
  readonly maxRequests: number;
  readonly maxBytes: number;
}

export class WaitingRequests {
  readonly #limits: WaitingLimits;
  readonly #requests = new Set<PendingRequest>();
  #bytes = 0;

  constructor(limits: WaitingLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#requests.size;
  }

  /** Adds a request at the end. Returns false when a limit would be exceeded. */
  add(request: PendingRequest): boolean {
    const { maxRequests, maxBytes } = this.#limits;
    if (this.#requests.size >= maxRequests || this.#bytes + request.length > maxBytes) return false;
    this.#requests.add(request);
    this.#bytes += request.length;
    return true;
  }

  /** Returns the oldest request, which goes on waiting. */
  first(): PendingRequest | undefined {
    return this.#requests.values().next().value;
  }

  /** Removes and returns the oldest request. */
  take(): PendingRequest | undefined {
    if (this.#requests.size === 0) return undefined;
    const request = this.first();
    if (request) this.remove(request);
    return request;
  }

  /** Removes a request. Returns whether it was waiting. */
  remove(request: PendingRequest): boolean {
    if (!this.#requests.delete(request)) return false;
    this.#bytes -= request.length;
    return true;
  }
}
