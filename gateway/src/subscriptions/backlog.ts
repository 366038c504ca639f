/**
 * Bounds the events that wait to be completed, over all response streams. Clients decide how many missed events are replayed; together they must
 * not take the memory of the process, or every connection to the subgraphs.
 */
import { PAGE_EVENTS } from './source-stream.ts';

/** At this many events, streams request no more pages of missed events and complete one event at a time. */
const MAX_EVENTS = 5000;

/** How long the first event of a page may take: a subgraph that does not respond must not keep the room. */
const RESPONSE_TIMEOUT_MS = 1000;

export class Backlog {
  readonly #maxEvents: number;
  /** Called in order when half of the room is free. */
  readonly #queue = new Set<() => void>();
  #events = 0;
  /** Pages that were granted and whose events have not begun to arrive. */
  #granted = 0;

  constructor(maxEvents = MAX_EVENTS) {
    this.#maxEvents = maxEvents;
  }

  get size(): number {
    return this.#events;
  }

  get isFull(): boolean {
    return this.#events >= this.#maxEvents;
  }

  add(): void {
    this.#events++;
  }

  remove(count = 1): void {
    this.#events -= count;
    this.#grantBelow(this.#maxEvents / 2);
  }

  /** Calls `start` once, now or when there is room for a page. The caller calls {@link settle} once afterwards. */
  request(start: () => void): void {
    this.#queue.add(start);
    if (this.#queue.size === 1) this.#grantBelow(this.#maxEvents);
  }

  /** Ends a grant: the events of the page arrive, and count themselves, or will not arrive. */
  settle(): void {
    this.#granted--;
    this.#grantBelow(this.#maxEvents / 2);
  }

  /** Removes a request that was not granted. */
  cancel(start: () => void): void {
    this.#queue.delete(start);
  }

  #grantBelow(limit: number): void {
    for (const start of this.#queue) {
      const expected = this.#events + this.#granted * PAGE_EVENTS;
      // Without events and grants nothing would call this again: the next request is granted then, whatever the limit.
      if (expected >= limit && this.#events + this.#granted > 0) return;
      this.#queue.delete(start);
      this.#granted++;
      start();
    }
  }
}

/** The requests of one response stream for pages of missed events. */
export class PageRequests {
  readonly #backlog: Backlog;
  readonly #start: () => void;
  #timer: NodeJS.Timeout | undefined;

  /** `start` is called for each request that is granted. */
  constructor(backlog: Backlog, start: () => void) {
    this.#backlog = backlog;
    this.#start = start;
  }

  request(): void {
    this.#backlog.request(this.#begin);
  }

  /** Called when the source stream has sent something. */
  settle(): void {
    if (!this.#timer) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#backlog.settle();
  }

  /** Cancels a request and ends a grant. */
  stop(): void {
    this.#backlog.cancel(this.#begin);
    this.settle();
  }

  readonly #begin = (): void => {
    this.#timer = setTimeout(() => {
      this.settle();
    }, RESPONSE_TIMEOUT_MS).unref();
    this.#start();
  };
}
