/**
 * Units of rate limits that the primary has granted a worker in advance, so that a client with many requests needs few messages and does not wait for
 * them. The primary counts them when it grants them. What is not used goes back when others are granted, and after an interval without use.
 */
import type { Count } from '@trestle/limits/sliding-windows';
import type { Taken } from './messages.ts';

/**
 * Granted units leave the sliding window of a minute too early by at most this time, which is also its resolution, and the time of a reply.
 */
const INTERVAL_MS = 100;
/** With fewer units in an interval, a lease and its return would be more messages, not fewer. */
const MIN_UNITS = 4;
/** How many units are asked for, as a multiple of those of the last interval: rates vary. */
const ADVANCE = 1.25;
/** More units are asked for when this part of a lease is left, so that they are there before it is used up. */
const LOW = 1 / 8;

interface Lease {
  /** Units that were taken in this interval, from the lease and from the primary. */
  used: number;
  /** Units that were taken in the interval before. */
  usedBefore: number;
  /** Units of the last grant. */
  granted: number;
  /** Those of them that are not used. */
  left: number;
  /** What is left of the rate limit: as many as the last reply of the primary said, less the units that were taken from the lease since. */
  remaining: number;
  resetMs: number;
  slot: number;
  /** The rate limit of the last request. */
  limit: number;
}

/** How a lease reaches the primary. */
export interface LeaseLink {
  /** Returns granted units. */
  readonly refund: (key: string, units: number, slot: number) => void;
  /** Asks for units in advance: calls {@link Leases.beginAsking}, and {@link Leases.endAsking} with the reply. */
  readonly renew: (key: string, limit: number) => void;
}

export class Leases {
  readonly #link: LeaseLink;
  readonly #leases = new Map<string, Lease>();
  readonly #asked = new Set<string>();

  constructor(link: LeaseLink) {
    this.#link = link;
  }

  /** Takes units of a key. Returns undefined when fewer are granted, so that the primary has to be asked. */
  take(key: string, limit: number, units: number): Count | undefined {
    const lease = this.#open(key);
    lease.used += units;
    lease.limit = limit;
    if (lease.left === 0 || lease.left < units) return undefined;
    lease.left -= units;
    lease.remaining -= units;
    if (lease.left < lease.granted * LOW && !this.#asked.has(key)) this.#link.renew(key, limit);
    return { isAllowed: true, remaining: lease.remaining, resetMs: lease.resetMs, retryMs: 0, slot: lease.slot };
  }

  /** Returns how many units of a key to ask for in advance: some more than it used lately, or 0 for few and while a reply is awaited. */
  beginAsking(key: string): number {
    const lease = this.#leases.get(key);
    if (!lease || this.#asked.has(key)) return 0;
    const units = Math.max(lease.used, lease.usedBefore);
    if (units < MIN_UNITS) return 0;
    this.#asked.add(key);
    return Math.ceil(units * ADVANCE);
  }

  /** Keeps what was granted for {@link beginAsking} in place of what was before; without a reply, nothing was granted. */
  endAsking(key: string, taken: Taken | undefined): void {
    this.#asked.delete(key);
    const before = this.#leases.get(key);
    const returned = before ? this.#return(key, before) : 0;
    if (taken === undefined || taken.granted === 0) return;
    const { granted, resetMs, slot } = taken;
    Object.assign(this.#open(key), { granted, left: granted, remaining: taken.remaining + returned, resetMs, slot });
  }

  /** Returns a reply of the primary, which counts granted units as taken, with those that are not used as units that are left. */
  correct(key: string, taken: Taken): Taken {
    const lease = this.#leases.get(key);
    if (!lease || lease.left === 0) return taken;
    lease.remaining = taken.remaining + lease.left;
    return { ...taken, remaining: lease.remaining };
  }

  #open(key: string): Lease {
    let lease = this.#leases.get(key);
    if (lease) return lease;
    if (this.#leases.size === 0) this.#startInterval();
    lease = { used: 0, usedBefore: 0, granted: 0, left: 0, remaining: 0, resetMs: 0, slot: 0, limit: 0 };
    this.#leases.set(key, lease);
    return lease;
  }

  #startInterval(): void {
    setTimeout(() => {
      this.#endInterval();
      if (this.#leases.size > 0) this.#startInterval();
    }, INTERVAL_MS).unref();
  }

  /** Units that a key needs go on until the primary has granted others. */
  #endInterval(): void {
    for (const [key, lease] of this.#leases) {
      const isUsed = lease.used >= MIN_UNITS;
      const hasLease = lease.left > 0;
      lease.usedBefore = lease.used;
      lease.used = 0;
      if (isUsed && hasLease) this.#link.renew(key, lease.limit);
      else this.#return(key, lease);
      if (!isUsed) this.#leases.delete(key);
    }
  }

  /** Returns the number of units that were returned. */
  #return(key: string, lease: Lease): number {
    const { left, slot } = lease;
    if (left > 0) this.#link.refund(key, left, slot);
    lease.left = 0;
    return left;
  }
}
