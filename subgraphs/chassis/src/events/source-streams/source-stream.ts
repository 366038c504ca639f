/** The source stream of one subscriber (GraphQL specification §6.2.3): first what it missed, from the table, then new events, each once and in order. */
import { fail } from '@trestle/schema/errors';
import { type ClientPosition, formatClientPosition, isSameHistory } from './client-position.ts';
import type { LoadedEvent, Subscriber, TopicEvent } from './dispatcher.ts';
import type { Bounds } from '../outbox/event-log.ts';

/** The most events that are queued for a slow subscriber; with more, its stream ends. */
export const QUEUE_LIMIT = 1000;
const PAGE = 200;
/** How often a subscriber without events gets its position: else the position would be deleted one day, though it missed nothing. */
const PROGRESS_MS = 10 * 60 * 1000;

/** The position that a stream has reached, after a while without an event. */
export interface Progress {
  readonly position: number;
  readonly row?: undefined;
}

/** A page of events, and the bounds from just before it was read. */
export type History = Bounds & { readonly events: readonly TopicEvent[] };

/** What a stream is created from. */
export interface SourceStreamOptions {
  /** The last position that the subscriber has received; without it the stream begins now. */
  readonly after: ClientPosition | undefined;
  /** Reads a page of the selected events behind a position. Its `settled` is never less than `position()` was at the call. */
  readonly readHistory: (after: number, limit: number) => Promise<History>;
  readonly loadRows: (events: readonly TopicEvent[]) => Promise<ReadonlyMap<TopicEvent, object>>;
  /** Resolves when everything was dispatched that was committed before the call. */
  readonly catchUp: () => Promise<void>;
  /** Resolves with the id of the event at a position; undefined when none is stored there. */
  readonly findId: (position: number) => Promise<string | undefined>;
  /** Returns the position up to which everything was dispatched in this process. */
  readonly position: () => number;
  /** How long the stream may be without an event before `next` returns the position, in milliseconds. */
  readonly progressMs?: number;
  readonly subscribe: (subscriber: Subscriber) => () => void;
}

/** A stream of events for one subscriber. */
export class SourceStream {
  readonly #options: SourceStreamOptions;
  #isStopped = false;
  #failure: Error | undefined;
  #queue: LoadedEvent[] = [];
  /** Everything up to here was queued, or is not selected. */
  #position: number;
  /** Whether all events before the subscription have been read. */
  #isLive: boolean;
  /** New events that are dispatched while older ones are still to be read. */
  #early: LoadedEvent[] = [];
  #unsubscribe: (() => void) | undefined;
  #wake: () => void = () => undefined;

  constructor(options: SourceStreamOptions) {
    this.#options = options;
    this.#position = options.after?.position ?? 0;
    this.#isLive = options.after === undefined;
  }

  /**
   * Resolves with the position from which on nothing will be missed. Throws GONE when events behind `after` were deleted or `after` is of another
   * history, such as one before a backup was restored; throws SERVICE_UNAVAILABLE.
   */
  async start(): Promise<number> {
    const { after, catchUp, position, findId } = this.#options;
    if (after !== undefined) {
      const oldest = await this.#readHistory();
      if (!isSameHistory(after, await findId(after.position), oldest)) throw gone(after.position);
      return after.position;
    }
    await catchUp();
    this.#position = position();
    if (!this.#isStopped) this.#subscribe();
    return this.#position;
  }

  /** Resolves with the next event, with the position after a while without one, or with undefined after the end. Throws what ended the stream. */
  async next(): Promise<LoadedEvent | Progress | undefined> {
    for (;;) {
      if (this.#failure) throw this.#failure;
      if (this.#isStopped) return undefined;
      const event = this.#queue.shift();
      if (event) return event;
      if (!this.#isLive) await this.#readHistory();
      else if (await this.#isQuiet()) return { position: this.#options.position() };
    }
  }

  /** Resolves with a position that `start` or `next` has returned, in the form of `extensions.resume.after`. */
  async format(position: number): Promise<string> {
    const { after, findId } = this.#options;
    return formatClientPosition(after?.position === position ? after : { position, id: await findId(position) });
  }

  /** Ends the stream at once, also while it waits. */
  stop(): void {
    this.#end();
  }

  #end(failure?: Error): void {
    this.#isStopped = true;
    if (failure) this.#failure = failure;
    this.#unsubscribe?.();
    this.#queue = [];
    this.#early = [];
    this.#wake();
  }

  #subscribe(): void {
    this.#unsubscribe = this.#options.subscribe({
      push: (event) => {
        this.#push(event);
      },
      end: (error) => {
        this.#end(error);
      },
    });
  }

  #push(event: LoadedEvent): void {
    const queue = this.#isLive ? this.#queue : this.#early;
    if (queue.length >= QUEUE_LIMIT) {
      const message = `More than ${String(QUEUE_LIMIT)} events are waiting for the subscriber. Subscribe again, and read events faster.`;
      this.#end(fail('SERVICE_UNAVAILABLE', message));
    } else if (event.position > this.#position) {
      queue.push(event);
      this.#wake();
    }
  }

  /** Reads a page of older events. After the last page it subscribes to new ones, and reads once more what was committed in between. Resolves with the oldest position. */
  async #readHistory(): Promise<number> {
    const { readHistory, loadRows, catchUp } = this.#options;
    const { events, oldest, settled, newest } = await readHistory(this.#position, PAGE);
    if (this.#position < oldest - 1 || this.#position > newest) throw gone(this.#position);
    const rows = await loadRows(events);
    if (this.#isStopped) return oldest;
    for (const event of events) {
      const row = rows.get(event);
      if (row) this.#queue.push({ position: event.position, id: event.id, row });
    }
    const isLast = events.length < PAGE;
    this.#position = isLast ? Math.max(settled, this.#position) : (events.at(-1)?.position ?? this.#position);
    if (!isLast) return oldest;
    if (this.#unsubscribe) {
      this.#isLive = true;
      this.#queue.push(...this.#early.filter(({ position }) => position > this.#position));
      this.#early = [];
    } else {
      await catchUp();
      if (!(this.#isStopped as boolean)) this.#subscribe();
    }
    return oldest;
  }

  /** Resolves with false when an event has come or the stream has ended, with true after `progressMs` without either. */
  #isQuiet(): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        resolve(true);
      }, this.#options.progressMs ?? PROGRESS_MS).unref();
      this.#wake = () => {
        clearTimeout(timer);
        resolve(false);
      };
    });
  }
}

function gone(position: number): Error {
  return fail('GONE', `Position ${String(position)} is no longer available. Subscribe without a position.`);
}
