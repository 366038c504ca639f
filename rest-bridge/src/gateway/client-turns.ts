/**
 * Bounds what is done at once. Beyond that the clients take turns, so that little work of one does not wait for much work of another (ADR 12). A client
 * whose results take much memory begins less, so that one that reads no responses does not fill the memory of the process.
 */
import { GradualPlaces, type PlaceLimits } from './gradual-places.ts';

/** What is known of a client while it has work in progress, waiting work, or results in memory. */
interface ClientWork {
  inProgress: number;
  heldBytes: number;
  readonly waiting: Set<() => void>;
}

/** The bounds. */
export interface TurnLimits extends PlaceLimits {
  /**
   * Bytes that the results of a client may take in memory, those of work in progress included. The work of a client beyond that begins slowly. Default:
   * no limit. Work without a client has none.
   */
  readonly bytesPerClient?: number;
}

/** What a result is assumed to take as long as the work is in progress. */
const ASSUMED_BYTES = 64 * 1024;
/**
 * How often work of a client beyond its limit begins all the same. Clients behind one address count as one, and must not wait for ever for those of them
 * that read slowly.
 */
const SLOW_TURN_MS = 100;

/** Gives places to work. */
export class ClientTurns {
  readonly #bytesPerClient: number;
  readonly #places: GradualPlaces;
  readonly #clients = new Map<string, ClientWork>();
  /** Clients with waiting work, in the order of their turns: a Set keeps the order of insertion. */
  readonly #turns = new Set<string>();
  /** Clients with waiting work that are beyond their limit. */
  readonly #slow = new Set<string>();
  #timer: NodeJS.Timeout | undefined;

  constructor({ bytesPerClient = Infinity, ...places }: TurnLimits) {
    this.#places = new GradualPlaces(places);
    this.#bytesPerClient = bytesPerClient;
  }

  /**
   * Calls `begin` as soon as a place is free. Returns true when it has begun at once, and false when it waits for its turn. Work that has begun must be
   * ended by {@link release}.
   */
  take(client: string, begin: () => void): boolean {
    const work = this.#find(client);
    if (this.#places.isFree && work.waiting.size === 0 && this.#isWithinLimit(client, work)) {
      this.#enter(work);
      begin();
      return true;
    }
    work.waiting.add(begin);
    this.#queue(client, work);
    return false;
  }

  /** Removes waiting work, which then never begins. Returns false when it does not wait. */
  leave(client: string, begin: () => void): boolean {
    const work = this.#find(client);
    const hasWaited = work.waiting.delete(begin);
    if (work.waiting.size === 0) {
      this.#turns.delete(client);
      this.#slow.delete(client);
    }
    this.#update(client, work);
    return hasWaited;
  }

  /** Ends work of the client that was begun. */
  release(client: string): void {
    this.#places.release();
    const work = this.#find(client);
    work.inProgress--;
    this.#update(client, work);
  }

  /** Counts bytes that a result of the client takes in memory. Returns the function that ends the count; to be called once. */
  hold(client: string, bytes: number): () => void {
    this.#find(client).heldBytes += bytes;
    return () => {
      const work = this.#find(client);
      work.heldBytes -= bytes;
      this.#update(client, work);
    };
  }

  #find(client: string): ClientWork {
    let work = this.#clients.get(client);
    if (!work) this.#clients.set(client, (work = { inProgress: 0, heldBytes: 0, waiting: new Set() }));
    return work;
  }

  #isWithinLimit(client: string, { inProgress, heldBytes }: ClientWork): boolean {
    return client === '' || heldBytes + (inProgress + 1) * ASSUMED_BYTES <= this.#bytesPerClient;
  }

  #enter(work: ClientWork): void {
    this.#places.take();
    work.inProgress++;
  }

  /** Has the waiting work of the client begin in turn, or slowly. */
  #queue(client: string, work: ClientWork): void {
    if (this.#isWithinLimit(client, work)) {
      this.#slow.delete(client);
      this.#turns.add(client);
      this.#places.growWhile(() => {
        this.#beginTurns();
        return this.#turns.size > 0;
      });
      return;
    }
    this.#turns.delete(client);
    this.#slow.add(client);
    this.#timer ??= setInterval(() => {
      this.#beginSlow();
    }, SLOW_TURN_MS).unref();
  }

  /** Begins what may begin now that the client has less in progress or in memory. */
  #update(client: string, work: ClientWork): void {
    if (work.waiting.size > 0) this.#queue(client, work);
    else if (work.inProgress === 0 && work.heldBytes === 0) this.#clients.delete(client);
    this.#beginTurns();
  }

  #beginTurns(): void {
    while (this.#places.isFree) {
      const [next] = this.#turns;
      if (next === undefined) return;
      // The client has its next turn after the others.
      this.#turns.delete(next);
      this.#begin(next);
    }
  }

  /** Begins the oldest waiting work of a client, whatever its results take in memory. */
  #begin(client: string): void {
    const work = this.#find(client);
    const [begin] = work.waiting;
    if (!begin) return;
    work.waiting.delete(begin);
    this.#enter(work);
    if (work.waiting.size > 0) this.#queue(client, work);
    begin();
  }

  #beginSlow(): void {
    for (const client of [...this.#slow]) {
      if (!this.#places.isFree) return;
      this.#slow.delete(client);
      this.#begin(client);
    }
    if (this.#slow.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
