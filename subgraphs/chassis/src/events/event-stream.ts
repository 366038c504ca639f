/** What one subscriber gets: first what it missed, from the table, then what happens, each event once and in order. */
import { fail } from '@trestle/schema/errors';
import type { Happening } from './event-hub.ts';
import type { Bounds, StoredEvent } from './event-log.ts';
import type { Listening } from './listening.ts';

/** So many events wait for a subscriber that is slow; with more it is let go. */
export const QUEUE_LIMIT = 1000;
const PAGE = 200;
/** A subscriber to what is quiet learns so often how far it has come: else its position would be forgotten one day, though nothing was missed. */
const QUIET_MS = 10 * 60 * 1000;

/** Nothing has happened for a while, up to this position. */
export interface Quiet {
  readonly position: number;
  readonly row?: undefined;
}

export interface EventStream {
  /** Gives the position from which on nothing will be missed. Throws GONE when events behind `after` have been forgotten, or SERVICE_UNAVAILABLE. */
  start(): Promise<number>;
  /** The next event, or undefined after the end; after a while without one, how far it is seen. Throws what has ended the stream. */
  next(): Promise<Happening | Quiet | undefined>;
  /** Lets go of everything at once, whatever is being waited for. */
  stop(): void;
}

export interface EventStreamOptions {
  readonly listening: Listening;
  /** The last position that the subscriber has seen; without it the stream begins now. */
  readonly after: number | undefined;
  readonly history: (after: number, limit: number) => Promise<Bounds & { readonly events: readonly StoredEvent[] }>;
  readonly loadRows: (events: readonly StoredEvent[]) => Promise<ReadonlyMap<StoredEvent, object>>;
  /** Resolves when everything was handed out that was committed before the call. */
  readonly catchUp: () => Promise<void>;
  /** The position up to which everything was handed out in this process. */
  readonly position: () => number;
  /** After how long without an event it is told how far it is seen. */
  readonly quietMs?: number;
  readonly attach: (receiver: { push(happening: Happening): void; end(error: Error): void }) => () => void;
}

export function createEventStream(options: EventStreamOptions): EventStream {
  const { after, history, loadRows, catchUp, position, attach, quietMs = QUIET_MS } = options;
  const state: { isStopped: boolean; failure?: Error } = { isStopped: false };
  let queue: Happening[] = [];
  /** Everything up to here was put into the queue, or does not fit. */
  let seen = after ?? 0;
  /** Whether what happens now comes by itself, and whether all from before has been read. */
  let detach: (() => void) | undefined;
  let isComplete = after === undefined;
  /** What comes by itself while there is still something to be read from before. */
  let early: Happening[] = [];
  let wake: () => void = () => undefined;

  const end = (failure?: Error) => {
    state.isStopped = true;
    if (failure) state.failure = failure;
    detach?.();
    queue = [];
    early = [];
    wake();
  };

  const join = () => {
    detach = attach({
      push(happening) {
        const waiting = isComplete ? queue : early;
        if (waiting.length >= QUEUE_LIMIT) {
          end(fail('SERVICE_UNAVAILABLE', 'Events are not taken as fast as they happen'));
        } else if (happening.position > seen) {
          waiting.push(happening);
          wake();
        }
      },
      end,
    });
  };

  /** Reads a page from before. Once there is no more, joins what happens now, and reads again what has happened in between. */
  async function readBefore(): Promise<void> {
    const { events, oldest, newest } = await history(seen, PAGE);
    if (seen < oldest - 1 || seen > newest) throw fail('GONE', 'What happened since that position is no longer known');
    const rows = await loadRows(events);
    if (state.isStopped) return;
    for (const event of events) {
      const row = rows.get(event);
      if (row) queue.push({ position: event.position, row });
    }
    const isLast = events.length < PAGE;
    seen = isLast ? newest : (events.at(-1)?.position ?? seen);
    if (!isLast) return;
    if (detach) {
      isComplete = true;
      queue.push(...early.filter((happening) => happening.position > seen));
      early = [];
    } else {
      await catchUp();
      if (!(state.isStopped as boolean)) join();
    }
  }

  /** Resolves when something has come, or when nothing has for so long. */
  const isQuiet = () =>
    new Promise<boolean>((resolve) => {
      const timer = setTimeout(() => {
        resolve(true);
      }, quietMs).unref();
      wake = () => {
        clearTimeout(timer);
        resolve(false);
      };
    });

  return {
    async start() {
      if (after === undefined) {
        await catchUp();
        seen = position();
        if (!state.isStopped) join();
      } else {
        await readBefore();
      }
      return after ?? seen;
    },
    async next() {
      for (;;) {
        if (state.failure) throw state.failure;
        if (state.isStopped) return undefined;
        const happening = queue.shift();
        if (happening) return happening;
        if (!isComplete) await readBefore();
        else if (await isQuiet()) return { position: position() };
      }
    },
    stop() {
      end();
    },
  };
}
