/**
 * Bounds the requests of clients whose requests take so long in one piece that all others wait. They begin one at a time, and more only while the
 * event loop has time left. While requests of other clients are in flight they use half of the event loop's time at most. No I/O.
 */
import { InFlightLimit, type Load } from './in-flight-limit.ts';

const LIMIT = { initial: 1, least: 1 };
/** The part of the event loop's time that costly clients may use while requests of others are in flight. */
const SHARE = 0.5;
/** Unused time of that share is kept up to this: more would be used without a pause. */
const MAX_LEFT_MS = 10;

/** The requests of costly clients. */
export class CostlyRequests {
  readonly #limit = new InFlightLimit(LIMIT);
  readonly #now: () => number;
  #inFlight = 0;
  /** Milliseconds that may be used while requests of others are in flight: below zero after a request that took more. */
  #leftMs = MAX_LEFT_MS;
  #countedAt = 0;

  /** Takes a monotonic clock in milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** Begins to limit. */
  begin(): void {
    this.#limit.begin(0);
    this.#leftMs = MAX_LEFT_MS;
    this.#countedAt = this.#now();
  }

  /** Returns whether a request may begin while so many of other clients are in flight. */
  mayBegin(others: number): boolean {
    if (this.#inFlight >= this.#limit.value) return false;
    return others === 0 || this.#countLeft() > 0;
  }

  /** Counts a request as in flight. */
  enter(): void {
    this.#inFlight++;
    this.#limit.observe(this.#inFlight);
  }

  /** Ends that count. */
  leave(): void {
    this.#inFlight--;
  }

  /** Counts milliseconds of the event loop's time that a costly client has used. */
  charge(milliseconds: number): void {
    this.#leftMs = this.#countLeft() - milliseconds;
  }

  /** Adapts the number that may be in flight. */
  adapt(load: Omit<Load, 'inFlight'>): void {
    this.#limit.adapt({ ...load, inFlight: this.#inFlight });
  }

  /** Forgets what is in flight. */
  clear(): void {
    this.#inFlight = 0;
  }

  #countLeft(): number {
    const now = this.#now();
    this.#leftMs = Math.min(MAX_LEFT_MS, this.#leftMs + SHARE * (now - this.#countedAt));
    this.#countedAt = now;
    return this.#leftMs;
  }
}
