/** How much time of the event loop each client has used recently: a sum that loses half of itself in each half-life. No I/O. */

/** After this time without requests a client has half of its use left. */
const HALF_LIFE_MS = 250;
/** A use below this is forgotten. */
const MIN_USE_MS = 0.05;
/** Others notice when the event loop is stopped for so long. */
const LONG_MS = 5;
/** The time in such pieces from which a client is costly: a collection of garbage that interrupts a cheap request takes less. */
const COSTLY_MS = 20;

/** What one client has used; both values lose half of themselves in each half-life. */
interface Use {
  sumMs: number;
  /** The part of it that was used in pieces of at least {@link LONG_MS} without a pause. */
  longMs: number;
}

const NONE: Use = { sumMs: 0, longMs: 0 };

/** The recent use of each client. */
export class RecentUse {
  readonly #byClient = new Map<string, Use>();
  readonly #now: () => number;
  readonly #onUse: ((client: string, milliseconds: number) => void) | undefined;
  #highest = 0;
  #isMeasuring = false;

  /** Takes a monotonic clock in milliseconds, and what is called after each addition. */
  constructor(now: () => number, onUse?: (client: string, milliseconds: number) => void) {
    this.#now = now;
    this.#onUse = onUse;
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
    let use = this.#byClient.get(client);
    if (!use) this.#byClient.set(client, (use = { sumMs: 0, longMs: 0 }));
    use.sumMs += milliseconds;
    if (milliseconds >= LONG_MS) use.longMs += milliseconds;
    if (use.sumMs > this.#highest) this.#highest = use.sumMs;
    this.#onUse?.(client, milliseconds);
  }

  /** Returns whether the client has used less than half as much as the client that has used most. */
  isLight(client: string): boolean {
    return 2 * (this.#byClient.get(client)?.sumMs ?? 0) < this.#highest;
  }

  /** Returns whether the client has used most of its time in long pieces, and is not light. */
  isCostly(client: string): boolean {
    const { sumMs, longMs } = this.#byClient.get(client) ?? NONE;
    return longMs >= COSTLY_MS && 2 * longMs >= sumMs && !this.isLight(client);
  }

  /** Reduces the use of all clients by what this time makes of it. */
  decay(milliseconds: number): void {
    const factor = 0.5 ** (milliseconds / HALF_LIFE_MS);
    this.#highest *= factor;
    for (const [client, use] of this.#byClient) {
      use.sumMs *= factor;
      use.longMs *= factor;
      if (use.sumMs < MIN_USE_MS) this.#byClient.delete(client);
    }
    if (this.#byClient.size === 0) this.#highest = 0;
  }

  clear(): void {
    this.#byClient.clear();
    this.#highest = 0;
  }
}
