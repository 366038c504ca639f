/** Cancels the fetches of one operation when its client disconnects. */

/** A fetch in flight. Aborting one that has ended does nothing. */
export interface Abortable {
  abort(reason: Error): void;
}

/** Like an AbortController, without an event per fetch: a request has one of these on the hot path. */
export class Cancellation {
  #isCancelled = false;
  #inFlight: Abortable[] | undefined;

  get isCancelled(): boolean {
    return this.#isCancelled;
  }

  /** Adds a fetch that only this operation waits for. */
  add(fetch: Abortable): void {
    if (this.#inFlight) this.#inFlight.push(fetch);
    else this.#inFlight = [fetch];
  }

  /** Aborts every fetch that was added. */
  cancel(): void {
    this.#isCancelled = true;
    const fetches = this.#inFlight ?? [];
    this.#inFlight = undefined;
    for (const fetch of fetches) fetch.abort(new Error('The client disconnected'));
  }
}
