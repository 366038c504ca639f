/** Runs pieces of work that take milliseconds each, one in each iteration of the event loop, so that other requests wait for one of them only. */
export class IterationTurns {
  readonly #waiting: (() => void)[] = [];
  #isScheduled = false;

  /** Runs `act` in a later iteration, in the order of the calls. */
  take(act: () => void): void {
    this.#waiting.push(act);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled || this.#waiting.length === 0) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      try {
        this.#waiting.shift()?.();
      } finally {
        this.#schedule();
      }
    });
  }
}
