/** The executions and fetches in the background that replace what is stale, bounded in number. No I/O. */

/** How many are in flight at most. Beyond that the request itself waits for a new result, as without a stale one. */
const MAX_REFRESHES = 100;

export class Refreshes {
  readonly #keys = new Set<string>();
  readonly #max: number;
  #inFlight = 0;

  constructor(max = MAX_REFRESHES) {
    this.#max = max;
  }

  get isFull(): boolean {
    return this.#inFlight >= this.#max;
  }

  /** Returns whether the result of a key is being replaced. */
  has(key: string): boolean {
    return this.#keys.has(key);
  }

  /** Notes that one refresh of these keys begins. Returns what must be called once, when it has ended. */
  begin(keys: readonly string[]): () => void {
    this.#inFlight++;
    for (const key of keys) this.#keys.add(key);
    return () => {
      this.#inFlight--;
      for (const key of keys) this.#keys.delete(key);
    };
  }
}
