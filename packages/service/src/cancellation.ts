/** Cancels the outgoing requests that only one client waits for when that client disconnects. */

/** A request in flight. Aborting one that has ended does nothing. */
export interface Abortable {
  abort(reason: Error): void;
}

/** Like an AbortController, without an event for each request: every incoming request has one of these on the hot path. */
export class Cancellation {
  #isCancelled = false;
  #inFlight: Abortable[] | undefined;

  /** Whether the client has disconnected. */
  get isCancelled(): boolean {
    return this.#isCancelled;
  }

  /** Adds a request that only this client waits for. Aborts it at once when the client has disconnected already. */
  add(request: Abortable): void {
    if (this.#isCancelled) request.abort(disconnected());
    else if (this.#inFlight) this.#inFlight.push(request);
    else this.#inFlight = [request];
  }

  /** Aborts every request that was added. */
  cancel(): void {
    this.#isCancelled = true;
    const requests = this.#inFlight ?? [];
    this.#inFlight = undefined;
    for (const request of requests) request.abort(disconnected());
  }
}

function disconnected(): Error {
  return new Error('The client disconnected');
}
