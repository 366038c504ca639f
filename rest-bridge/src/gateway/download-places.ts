/**
 * Bounds the downloads that are in progress at once, of all clients and of each one. A download lasts as long as its client pleases, so that one client
 * must not have all connections to a subgraph. Beyond the bounds the clients take turns, and none waits for long.
 */
import { type Fault, fail } from '@trestle/schema/errors';
import type { Cancellation } from '@trestle/service/process/cancellation';

/** The bounds. */
export interface DownloadLimits {
  /** How many downloads are in progress at most, and how many of one client. */
  readonly places: number;
  readonly placesOfClient: number;
  /** How many wait at most, and how many of one client. */
  readonly waiting: number;
  readonly waitingOfClient: number;
  /** How long a download waits at most, in milliseconds. */
  readonly waitMs: number;
}

/** What is known of a client that has downloads in progress, or waiting ones. */
interface Client {
  inProgress: number;
  readonly waiting: Set<() => void>;
}

const RETRY_AFTER_SECONDS = 5;

/** Gives places to downloads. */
export class DownloadPlaces {
  readonly #limits: DownloadLimits;
  readonly #clients = new Map<string, Client>();
  /** Clients with waiting downloads of which one may begin, in the order of their turns: a Set keeps the order of insertion. */
  readonly #turns = new Set<string>();
  #inProgress = 0;
  #waiting = 0;

  constructor(limits: DownloadLimits) {
    this.#limits = limits;
  }

  /**
   * Resolves with the function that gives the place back, to be called when the download has ended. Rejects with SERVICE_UNAVAILABLE when no place is
   * free in time, when too many downloads wait already, and when `cancellation` ends the wait.
   */
  take(client: string, cancellation: Cancellation): Promise<() => void> {
    const { waiting, waitingOfClient, waitMs } = this.#limits;
    const own = this.#clients.get(client) ?? { inProgress: 0, waiting: new Set() };
    this.#clients.set(client, own);
    if (this.#isFree && own.waiting.size === 0 && this.#mayBegin(own)) return Promise.resolve(this.#enter(client, own));
    if (this.#waiting >= waiting || own.waiting.size >= waitingOfClient) {
      this.#update(client, own);
      return Promise.reject(unavailable());
    }
    return new Promise((resolve, reject) => {
      const begin = () => {
        clearTimeout(timer);
        resolve(this.#enter(client, own));
      };
      const leave = (cause?: Error) => {
        clearTimeout(timer);
        if (!own.waiting.delete(begin)) return;
        this.#waiting--;
        this.#update(client, own);
        reject(unavailable(cause));
      };
      const timer = setTimeout(leave, waitMs);
      own.waiting.add(begin);
      this.#waiting++;
      this.#update(client, own);
      cancellation.add({ abort: leave });
    });
  }

  get #isFree(): boolean {
    return this.#inProgress < this.#limits.places;
  }

  #mayBegin({ inProgress }: Client): boolean {
    return inProgress < this.#limits.placesOfClient;
  }

  #enter(client: string, own: Client): () => void {
    this.#inProgress++;
    own.inProgress++;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#inProgress--;
      own.inProgress--;
      this.#update(client, own);
      this.#beginTurns();
    };
  }

  /** Gives the client a turn when one of its downloads waits and may begin. Forgets a client that has none. */
  #update(client: string, own: Client): void {
    if (own.waiting.size === 0) this.#turns.delete(client);
    else if (this.#mayBegin(own)) this.#turns.add(client);
    if (own.waiting.size === 0 && own.inProgress === 0) this.#clients.delete(client);
  }

  #beginTurns(): void {
    while (this.#isFree) {
      const [client] = this.#turns;
      if (client === undefined) return;
      // The client has its next turn after the others.
      this.#turns.delete(client);
      const own = this.#clients.get(client);
      const [begin] = own?.waiting ?? [];
      if (!own || !begin) continue;
      own.waiting.delete(begin);
      this.#waiting--;
      begin();
      this.#update(client, own);
    }
  }
}

function unavailable(cause?: Error): Fault {
  return fail('SERVICE_UNAVAILABLE', `Too many downloads are in progress. Retry after ${String(RETRY_AFTER_SECONDS)} seconds.`, {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    cause,
  });
}
