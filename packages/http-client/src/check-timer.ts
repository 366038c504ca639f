/** One timer for all limits of time of a client: a timer for each request would cost more than the request's bytes. */

const CHECKS_PER_TIMEOUT = 20;
const MAX_CHECK_MS = 250;

/** Calls a function several times within a time limit, while it runs. */
export class CheckTimer {
  readonly #intervalMs: number;
  readonly #check: (now: number) => void;
  #timer: NodeJS.Timeout | undefined;

  /** `check` gets the time on the clock of `performance.now`. */
  constructor(timeoutMs: number, check: (now: number) => void) {
    this.#intervalMs = Math.min(MAX_CHECK_MS, timeoutMs / CHECKS_PER_TIMEOUT);
    this.#check = check;
  }

  /** Does nothing when it runs. It does not keep the process alive. */
  start(): void {
    this.#timer ??= setInterval(() => {
      this.#check(performance.now());
    }, this.#intervalMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
