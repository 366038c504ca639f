/** How many requests of all clients may be in flight while several clients share a process: few while its event loop is busy. No I/O. */

/** Bounds of a limit. There is no maximum: requests that wait for a subgraph that hangs take no time of this process, and must not delay others. */
export interface LimitBounds {
  /** The limit when a second client appears. */
  readonly initial: number;
  /** The limit while the process is busy. */
  readonly least: number;
}

/** What the limit depends on. */
export interface Load {
  readonly isBusy: boolean;
  /** Regular intervals since the last adaptation: more than 1 when the event loop was stopped for longer. */
  readonly intervals: number;
  readonly hasWaiting: boolean;
  /** Whether several clients were present a short time ago. */
  readonly isShared: boolean;
  readonly inFlight: number;
}

/** The limit, from one adaptation to the next. */
export class InFlightLimit {
  readonly #bounds: LimitBounds;
  #value = Infinity;
  /** The most that were in flight since the last adaptation. */
  #peak = 0;

  constructor(bounds: LimitBounds) {
    this.#bounds = bounds;
  }

  get value(): number {
    return this.#value;
  }

  /** Begins to limit, with so many in flight. */
  begin(inFlight: number): void {
    this.#value = this.#bounds.initial;
    this.#peak = inFlight;
  }

  /** Records how many requests are in flight. */
  observe(inFlight: number): void {
    if (inFlight > this.#peak) this.#peak = inFlight;
  }

  /**
   * Adapts the limit: it ends when the clients are gone, is halved for each interval in which the process was busy, and otherwise grows, beyond its
   * first value only while requests wait. A burst of costly requests thus does not find the first value again as soon as the burst before it has ended.
   */
  adapt({ isBusy, intervals, hasWaiting, isShared, inFlight }: Load): void {
    const { initial, least } = this.#bounds;
    const grown = this.#value + Math.max(1, Math.floor(this.#value / 4));
    if (!isShared) this.#value = hasWaiting ? this.#value * 2 : Infinity;
    else if (isBusy) this.#value = Math.max(least, Math.floor(Math.min(this.#value, this.#peak) / 2 ** intervals));
    else this.#value = hasWaiting ? grown : Math.min(grown, initial);
    this.#peak = inFlight;
  }
}
