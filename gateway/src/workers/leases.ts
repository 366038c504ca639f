/**
 * Units of rate limits that the primary has granted a worker in advance, so that a client with many requests needs few messages. The primary counts them
 * when it grants them. What is not used goes back at the end of an interval.
 */
import type { Count } from '@trestle/limits/sliding-windows';
import type { Taken } from './messages.ts';

/** Granted units leave the sliding window of a minute too early by at most this time, which is also the resolution of the window. */
const INTERVAL_MS = 100;
/** With fewer units in an interval, a lease and its return would be more messages, not fewer. */
const MIN_UNITS = 4;

interface Lease {
  /** Units that were taken in this interval, from the lease and from the primary. */
  used: number;
  /** Units that are granted and not used. */
  left: number;
  /** What is left of the rate limit: as many as the last reply of the primary said, less the units that were taken from the lease since. */
  remaining: number;
  resetMs: number;
  slot: number;
}

export class Leases {
  readonly #refund: (key: string, units: number, slot: number) => void;
  #leases = new Map<string, Lease>();
  /** Units of each key that were taken in the interval before. */
  #usedBefore = new Map<string, number>();
  readonly #asked = new Set<string>();

  /** @param refund Returns granted units to the primary. */
  constructor(refund: (key: string, units: number, slot: number) => void) {
    this.#refund = refund;
  }

  /** Takes units of a key. Returns undefined when fewer are granted, so that the primary has to be asked. */
  take(key: string, units: number): Count | undefined {
    const lease = this.#open(key);
    lease.used += units;
    if (lease.left === 0 || lease.left < units) return undefined;
    lease.left -= units;
    lease.remaining -= units;
    return { isAllowed: true, remaining: lease.remaining, resetMs: lease.resetMs, retryMs: 0, slot: lease.slot };
  }

  /** Returns how many units of a key to ask for in advance: as many as it used lately, or 0 for few and while a reply is awaited. */
  beginAsking(key: string): number {
    if (this.#asked.has(key)) return 0;
    const units = Math.max(this.#leases.get(key)?.used ?? 0, this.#usedBefore.get(key) ?? 0);
    if (units < MIN_UNITS) return 0;
    this.#asked.add(key);
    return units;
  }

  /** Keeps what was granted for {@link beginAsking}; without a reply, nothing was. */
  endAsking(key: string, taken: Taken | undefined): void {
    this.#asked.delete(key);
    if (taken === undefined || taken.granted === 0) return;
    const lease = this.#open(key);
    lease.left += taken.granted;
    const { remaining, resetMs, slot } = taken;
    Object.assign(lease, { remaining, resetMs, slot });
  }

  #open(key: string): Lease {
    let lease = this.#leases.get(key);
    if (lease) return lease;
    if (this.#leases.size === 0)
      setTimeout(() => {
        this.#endInterval();
      }, INTERVAL_MS).unref();
    lease = { used: 0, left: 0, remaining: 0, resetMs: 0, slot: 0 };
    this.#leases.set(key, lease);
    return lease;
  }

  #endInterval(): void {
    const ended = this.#leases;
    this.#leases = new Map();
    this.#usedBefore = new Map();
    for (const [key, { used, left, slot }] of ended) {
      if (left > 0) this.#refund(key, left, slot);
      if (used >= MIN_UNITS) this.#usedBefore.set(key, used);
    }
  }
}
