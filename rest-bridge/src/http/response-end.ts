/** Runs what must follow the end of a response, whether it was sent or its client has disconnected. */

/** The end of one response. */
export class ResponseEnd {
  #isOver = false;
  #actions: (() => void)[] | undefined;

  /** Calls `action` when the response has ended; at once when it has ended already. `action` must not throw. */
  after(action: () => void): void {
    if (this.#isOver) action();
    else if (this.#actions) this.#actions.push(action);
    else this.#actions = [action];
  }

  /** To be called when the response has ended. */
  end(): void {
    this.#isOver = true;
    const actions = this.#actions ?? [];
    this.#actions = undefined;
    for (const action of actions) action();
  }
}
