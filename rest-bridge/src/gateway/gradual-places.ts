/**
 * Places for work that is in progress at once: few at first, and more while work waits. Each place is a connection to the gateway, and to open one by
 * TLS takes both processes milliseconds, so that a burst of requests must not open all of them at once.
 */

/** The bounds. */
export interface PlaceLimits {
  /** How many places there are at most. */
  readonly places: number;
  /** How many places there are at first. Default: all of them. */
  readonly placesAtFirst?: number;
}

/** How often a place is added while work waits. */
const GROWTH_MS = 10;
/** After this time without waiting work there are as many places as at first. undici closes idle connections after as long. */
const REST_MS = 4000;

/** Counts the places in use. */
export class GradualPlaces {
  readonly #most: number;
  readonly #atFirst: number;
  #size: number;
  #inUse = 0;
  #timer: NodeJS.Timeout | undefined;
  #lastGrowth = 0;

  constructor({ places, placesAtFirst = places }: PlaceLimits) {
    this.#most = places;
    this.#atFirst = Math.min(placesAtFirst, places);
    this.#size = this.#atFirst;
  }

  /** Whether a place is free. */
  get isFree(): boolean {
    return this.#inUse < this.#size;
  }

  take(): void {
    this.#inUse++;
  }

  release(): void {
    this.#inUse--;
    const isAtRest = this.#size > this.#atFirst && !this.#timer && performance.now() - this.#lastGrowth > REST_MS;
    if (isAtRest) this.#size = Math.max(this.#atFirst, this.#inUse);
  }

  /** Adds a place at intervals until `beginWaiting`, which is called after each, returns that no work waits for a place. */
  growWhile(beginWaiting: () => boolean): void {
    if (this.#timer || this.#size >= this.#most) return;
    this.#timer = setInterval(() => {
      this.#size++;
      this.#lastGrowth = performance.now();
      if (beginWaiting() && this.#size < this.#most) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    }, GROWTH_MS).unref();
  }
}
