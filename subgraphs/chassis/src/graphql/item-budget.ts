/**
 * Bounds the memory of the results that a process builds at the same time. Results with few list items never wait. Others share a number of
 * items; those that would exceed it are continued one after another, because each may have as many items as one result can have.
 */
import { fail } from '@trestle/schema/errors';

/** A result with at most this many list items never waits. An item costs about 3 kB while the result is built. */
const FREE_ITEMS = 2_000;

/** How many list items the larger results that are built beside each other may have together. */
const SHARED_ITEMS = 20_000;

/** How long a result waits for the large ones before it. The gateway's own time limit for a subgraph is 10 s. */
const MAX_WAIT_MS = 8_000;

/** What one result has taken of a budget. */
export interface ItemClaim {
  /** Takes so many items. Resolves, or returns undefined, when the result may continue. Rejects with SERVICE_UNAVAILABLE after 8 s. */
  readonly take: (items: number) => Promise<void> | undefined;
  /** Gives everything back. Called when the result has been executed; a second call does nothing. */
  readonly release: () => void;
}

/** The limits of a budget; for tests. */
export interface ItemBudgetOptions {
  readonly freeItems?: number;
  readonly sharedItems?: number;
  readonly maxWaitMs?: number;
}

/** The list items of all results that are being built. */
export class ItemBudget {
  readonly #freeItems: number;
  readonly #sharedItems: number;
  readonly #maxWaitMs: number;
  #taken = 0;
  /** The one claim that may exceed the shared items. */
  #large: Claim | undefined;
  readonly #queue = new Set<Claim>();

  constructor({ freeItems = FREE_ITEMS, sharedItems = SHARED_ITEMS, maxWaitMs = MAX_WAIT_MS }: ItemBudgetOptions = {}) {
    this.#freeItems = freeItems;
    this.#sharedItems = sharedItems;
    this.#maxWaitMs = maxWaitMs;
  }

  /** Starts the claim of one result. */
  open(): ItemClaim {
    const claim = new Claim();
    return {
      take: (items) => this.#take(claim, items),
      release: () => {
        this.#release(claim);
      },
    };
  }

  #take(claim: Claim, items: number): Promise<void> | undefined {
    // graphql-js may go on with lists of a result that has ended with an error.
    if (claim === this.#large || claim.isReleased) return undefined;
    claim.items += items;
    if (!claim.turn) {
      if (claim.items <= this.#freeItems) return undefined;
      const more = claim.items - claim.taken;
      if (this.#taken + more <= this.#sharedItems) {
        this.#taken += more;
        claim.taken += more;
        return undefined;
      }
    }
    claim.turn ??= this.#wait(claim);
    return claim.turn;
  }

  /** Resolves when it is the claim's turn to exceed the shared items. */
  #wait(claim: Claim): Promise<void> | undefined {
    if (!this.#large) {
      this.#large = claim;
      return undefined;
    }
    this.#queue.add(claim);
    const turn = new Promise<void>((resolve, reject) => {
      claim.start = resolve;
      claim.timer = setTimeout(() => {
        this.#queue.delete(claim);
        reject(fail('SERVICE_UNAVAILABLE', 'Other large results are being executed. Retry after 1 second.', { retryAfterSeconds: 1 }));
      }, this.#maxWaitMs).unref();
    });
    // The lists wait for it, but a rejection that none of them awaited would end the process.
    turn.catch(() => undefined);
    return turn;
  }

  #release(claim: Claim): void {
    if (claim.isReleased) return;
    claim.isReleased = true;
    this.#taken -= claim.taken;
    clearTimeout(claim.timer);
    this.#queue.delete(claim);
    if (claim !== this.#large) return;
    const [next] = this.#queue;
    this.#large = next;
    if (!next) return;
    this.#queue.delete(next);
    clearTimeout(next.timer);
    next.start?.();
  }
}

class Claim {
  /** All items of the result, and those that it has taken of the shared ones. */
  items = 0;
  taken = 0;
  isReleased = false;
  /** Resolves when the claim may exceed the shared items; all of its lists wait for the same turn. */
  turn: Promise<void> | undefined;
  start: (() => void) | undefined;
  timer: NodeJS.Timeout | undefined;
}
