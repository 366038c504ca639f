/** How much time of the event loop each client has used recently: a sum that loses half of itself in each half-life. No I/O. */

/** After this time without requests a client has half of its use left. */
const HALF_LIFE_MS = 250;
/** A use below this is forgotten. */
const MIN_USE_MS = 0.05;

/** The recent use of each client. */
export class RecentUse {
  readonly #byClient = new Map<string, number>();
  readonly #now: () => number;
  #highest = 0;
  #isMeasuring = false;

  /** Takes a monotonic clock in milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Calls `act` and adds its time. What is measured within something else counts once. */
  measure(client: string, act: () => void): void {
    if (this.#isMeasuring) {
      act();
      return;
    }
    this.#isMeasuring = true;
    const startedAt = this.#now();
    try {
      act();
    } finally {
      this.#isMeasuring = false;
      this.add(client, this.#now() - startedAt);
    }
  }

  /** Adds milliseconds that were spent on requests of this client. */
  add(client: string, milliseconds: number): void {
    const sum = (this.#byClient.get(client) ?? 0) + milliseconds;
    this.#byClient.set(client, sum);
    if (sum > this.#highest) this.#highest = sum;
  }

  /** Returns whether the client has used less than half as much as the client that has used most. */
  isLight(client: string): boolean {
    return 2 * (this.#byClient.get(client) ?? 0) < this.#highest;
  }

  /** Reduces the use of all clients by what this time makes of it. */
  decay(milliseconds: number): void {
    const factor = 0.5 ** (milliseconds / HALF_LIFE_MS);
    this.#highest *= factor;
    for (const [client, use] of this.#byClient) {
      const left = use * factor;
      if (left < MIN_USE_MS) this.#byClient.delete(client);
      else this.#byClient.set(client, left);
    }
    if (this.#byClient.size === 0) this.#highest = 0;
  }

  clear(): void {
    this.#byClient.clear();
    this.#highest = 0;
  }
}
