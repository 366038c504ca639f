/** When a lost connection is retried: with exponential backoff and full jitter, for a limited time. */
import { backoffMs } from '@trestle/service/process/backoff';

const DELAYS = { firstMs: 50, maxMs: 2000 };
/** A connection that lasted this long counts as recovered: its next loss is a new one. */
const STABLE_MS = 5000;

export interface ReconnectionOptions {
  /** How long is retried, from the loss on. */
  readonly reconnectMs: number;
  /** A monotonic clock in milliseconds. Default: `performance.now`. */
  readonly now?: () => number;
  /** Default: `Math.random`. */
  readonly random?: () => number;
}

export class Reconnection {
  readonly #reconnectMs: number;
  readonly #now: () => number;
  readonly #random: () => number;
  readonly #connect: () => void;
  #lostAt: number | undefined;
  /** When the other side responded after the loss, if it has not sent an event since. */
  #contactAt: number | undefined;
  #attempts = 0;
  #timer: NodeJS.Timeout | undefined;

  /** `connect` is called for each retry. */
  constructor({ reconnectMs, now = () => performance.now(), random = Math.random }: ReconnectionOptions, connect: () => void) {
    this.#reconnectMs = reconnectMs;
    this.#now = now;
    this.#random = random;
    this.#connect = connect;
  }

  /** Schedules a retry after a loss. Returns false when the time is up. */
  retry(): boolean {
    const now = this.#now();
    if (this.#lostAt === undefined || (this.#contactAt !== undefined && now - this.#contactAt >= STABLE_MS)) {
      this.#lostAt = now;
      this.#attempts = 0;
    }
    this.#contactAt = undefined;
    if (now - this.#lostAt >= this.#reconnectMs) return false;
    // Full jitter, so that connections that were lost together are not retried together.
    const delay = backoffMs(++this.#attempts, DELAYS) * this.#random();
    this.#timer = setTimeout(this.#connect, delay);
    return true;
  }

  /** Notes that the other side responded. */
  noteContact(): void {
    this.#contactAt ??= this.#now();
  }

  /** Notes that an event arrived: the connection has recovered. */
  reset(): void {
    this.#lostAt = undefined;
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
