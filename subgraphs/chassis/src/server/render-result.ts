/**
 * Renders results as JSON. A large one takes milliseconds in which the event loop handles nothing else, so one of them is rendered in each iteration;
 * otherwise requests that were handled beside each other would be rendered one after another without a pause.
 */

/** A result whose rendering takes at least this long ends the turn of its iteration. */
const LARGE_MS = 1;

type Render = () => void;

/** Gives results their turns. */
export class ResultRenderer {
  readonly #waiting: Render[] = [];
  readonly #now: () => number;
  #isTurnTaken = false;

  /** Takes a monotonic clock in milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Returns the JSON text of the value: at once, or when the results before it have had their turns. */
  render(value: unknown): string | Promise<string> {
    if (!this.#isTurnTaken) return this.#stringify(value);
    return new Promise((resolve, reject) => {
      this.#waiting.push(() => {
        try {
          resolve(this.#stringify(value));
        } catch (error) {
          reject(error as Error);
        }
      });
    });
  }

  #stringify(value: unknown): string {
    const startedAt = this.#now();
    const text = JSON.stringify(value);
    if (this.#now() - startedAt >= LARGE_MS) this.#takeTurn();
    return text;
  }

  #takeTurn(): void {
    this.#isTurnTaken = true;
    setImmediate(() => {
      this.#isTurnTaken = false;
      while (!this.#isTurnTaken && this.#waiting.length > 0) this.#waiting.shift()?.();
    });
  }
}
