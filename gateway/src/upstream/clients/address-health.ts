/** Which of several addresses of a subgraph gets the next request, and which ones are left out because they fail. No I/O. */
import type { Outcome } from '../traffic/outcome.ts';

export interface AddressHealthOptions {
  /** How many addresses there are: at least one. */
  readonly count: number;
  /** An address is ejected after this many failures without a success in between; 0 for never. */
  readonly maxFailures: number;
  /** For how long, the first time. Each further time doubles it, up to {@link MAX_EJECTION_MS}. */
  readonly ejectionMs: number;
  /** Called when an address that got requests is ejected. */
  readonly onEject?: (index: number) => void;
  /** A monotonic clock in milliseconds. Default: `performance.now`. */
  readonly now?: () => number;
}

/** An address that was chosen for one request. */
export interface Choice {
  readonly index: number;
  /** Whether the request finds out if an ejected address works again. */
  readonly isProbe: boolean;
}

interface Address {
  readonly normal: Choice;
  readonly probe: Choice;
  inFlight: number;
  failures: number;
  /** Undefined while the address is not ejected. */
  ejectedUntil: number | undefined;
  isProbed: boolean;
  ejectionMs: number;
  restoredAt: number;
}

/** The longest time for which an address is ejected. After as long without an ejection, the next one is short again. */
export const MAX_EJECTION_MS = 30_000;
const NO_INDEXES: readonly number[] = [];

/** The addresses of one subgraph. At least one of them is not ejected, even when all fail. */
export class AddressHealth {
  readonly #options: AddressHealthOptions;
  readonly #now: () => number;
  readonly #all: readonly Address[];
  #next = 0;

  constructor(options: AddressHealthOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    this.#all = Array.from({ length: options.count }, (_, index) => ({
      normal: { index, isProbe: false },
      probe: { index, isProbe: true },
      ...{ inFlight: 0, failures: 0, ejectedUntil: undefined, isProbed: false, ejectionMs: 0, restoredAt: -Infinity },
    }));
  }

  /**
   * Returns the address with the fewest requests in flight; in turn, where several have as few. An ejected address whose time is over comes first,
   * for one request: a query, or a mutation when no query came for {@link MAX_EJECTION_MS}. Ejected ones whose time is not over come last. An earlier
   * attempt of the request has failed at `avoided`: others that are not ejected come before these, and no ejected one comes first. Returns undefined when all
   * addresses are in `tried`. Each choice must be reported by {@link end}.
   */
  choose(isQuery: boolean, tried: readonly number[] = NO_INDEXES, avoided: readonly number[] = NO_INDEXES): Choice | undefined {
    const at = this.#now();
    const count = this.#all.length;
    // A request that goes to a second address must not take the turn of the next request.
    const isFirst = tried.length === 0 && avoided.length === 0;
    const start = (isFirst ? this.#next++ : this.#next) % count;
    let best: Address | undefined;
    let bestRank = Infinity;
    const mayProbe = avoided.length === 0;
    for (let i = 0; i < count; i++) {
      const address = this.#all[(start + i) % count] as Address;
      const { index } = address.normal;
      if (tried.includes(index)) continue;
      const { ejectedUntil } = address;
      if (mayProbe && ejectedUntil !== undefined && !address.isProbed && at >= ejectedUntil + (isQuery ? 0 : MAX_EJECTION_MS)) {
        address.isProbed = true;
        address.inFlight++;
        return address.probe;
      }
      const rank = ejectedUntil !== undefined ? 2 : avoided.includes(index) ? 1 : 0;
      if (!best || rank < bestRank || (rank === bestRank && address.inFlight < best.inFlight)) [best, bestRank] = [address, rank];
    }
    if (best) best.inFlight++;
    return best?.normal;
  }

  /** Returns an address that is not ejected, in turn, for what is not counted as a request. */
  pick(): number {
    const count = this.#all.length;
    for (let i = 0; i < count; i++) {
      const index = this.#next++ % count;
      if (this.#all[index]?.ejectedUntil === undefined) return index;
    }
    return 0;
  }

  /** Reports how the request of a choice has ended. */
  end({ index, isProbe }: Choice, outcome: Outcome): void {
    const address = this.#all[index] as Address;
    address.inFlight--;
    if (isProbe) address.isProbed = false;
    if (outcome === 'success') this.#restore(address);
    else if (outcome === 'failure') this.#fail(address, isProbe);
  }

  #restore(address: Address): void {
    address.failures = 0;
    if (address.ejectedUntil === undefined) return;
    address.ejectedUntil = undefined;
    address.restoredAt = this.#now();
  }

  #fail(address: Address, isProbe: boolean): void {
    if (address.ejectedUntil !== undefined) {
      // Requests from before the ejection say nothing new.
      if (isProbe) this.#eject(address);
      return;
    }
    address.failures++;
    const { maxFailures, onEject } = this.#options;
    if (maxFailures === 0 || address.failures < maxFailures) return;
    if (this.#all.every((other) => other === address || other.ejectedUntil !== undefined)) return;
    this.#eject(address);
    onEject?.(address.normal.index);
  }

  #eject(address: Address): void {
    const at = this.#now();
    const isFirst = address.ejectedUntil === undefined && at - address.restoredAt > MAX_EJECTION_MS;
    address.ejectionMs = Math.min(MAX_EJECTION_MS, isFirst ? this.#options.ejectionMs : address.ejectionMs * 2);
    address.ejectedUntil = at + address.ejectionMs;
    address.failures = 0;
  }
}
