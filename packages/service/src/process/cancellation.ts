/** Cancels the outgoing requests that only one client waits for: when that client disconnects, or its time limit has passed. */

/** A request in flight. Aborting one that has ended does nothing. */
export interface Abortable {
  abort(reason: Error): void;
}

/** The time limit of an operation has passed. */
export class OperationExpired extends Error {}

/** Like an AbortController, without an event for each request: every incoming request has one of these on the hot path. */
export class Cancellation {
  #reason: Error | undefined;
  #inFlight: Abortable[] | undefined;

  /** Whether the client has disconnected, or its time limit has passed. */
  get isCancelled(): boolean {
    return this.#reason !== undefined;
  }

  /** Why no more requests are sent; an {@link OperationExpired} after {@link expire}. Undefined while they are. */
  get reason(): Error | undefined {
    return this.#reason;
  }

  /** Adds a request that only this client waits for. Aborts it at once when it is too late. */
  add(request: Abortable): void {
    if (this.#reason) request.abort(this.#reason);
    else if (this.#inFlight) this.#inFlight.push(request);
    else this.#inFlight = [request];
  }

  /** Returns a cancellation for some of the client's requests. It may end sooner than this one, and ends with it. */
  derive(): Cancellation {
    const derived = new Cancellation();
    this.add({
      abort: (reason) => {
        derived.#end(reason);
      },
    });
    return derived;
  }

  /** Aborts every request that was added, because the client has disconnected. */
  cancel(): void {
    this.#end(new Error('The client disconnected'));
  }

  /** Aborts every request that was added, because the time limit has passed. The client still waits. */
  expire(): void {
    this.#end(new OperationExpired('The time limit of the operation has passed'));
  }

  #end(reason: Error): void {
    if (this.#reason) return;
    this.#reason = reason;
    const requests = this.#inFlight ?? [];
    this.#inFlight = undefined;
    for (const request of requests) request.abort(reason);
  }
}
