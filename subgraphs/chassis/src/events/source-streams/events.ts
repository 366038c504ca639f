/** The live events of a subgraph: read once from its database, dispatched to every subscriber of this process (ADR 24). */
import type { Log } from '@trestle/log';
import { Fault, fail } from '@trestle/schema/errors';
import type { Database } from '../../database/database.ts';
import type { Query } from '../../database/query.ts';
import { type Dispatcher, type TopicEvent, createDispatcher } from './dispatcher.ts';
import {
  type Range,
  type StoredEvent,
  findEventId,
  maintainOutbox,
  readBounds,
  readEvents,
  readRecent,
  readSelectedEvents,
} from '../outbox/event-log.ts';
import { EventReader, stopping, unavailable } from '../outbox/event-reader.ts';
import type { ClientPosition } from './client-position.ts';
import type { EventSelection } from '../outbox/event-selection.ts';
import { HistoryMark } from '../outbox/history-mark.ts';
import { createProgressWaiters } from './progress-waiters.ts';
import { type History, SourceStream } from './source-stream.ts';
import { type Topics, createTopicFinder, loadRows } from './topics.ts';

/** The events of a subgraph. */
export interface Events {
  /** Creates the stream of the selected events, from behind the position `after`, or from now on. It begins with its `start`. */
  readonly open: (selection: EventSelection, after?: ClientPosition) => SourceStream;
  /** Returns the events of a topic of the last seconds; only those whose subject matches a pattern of LIKE, if given. Throws SERVICE_UNAVAILABLE. */
  readonly recent: (topic: string, seconds: number, subject?: string) => Promise<StoredEvent[]>;
  /** Returns the position up to which this process has read everything. */
  readonly position: () => number;
  /**
   * Resolves when this process has read beyond a position, when positions are counted again, or when the signal is aborted. Rejects with
   * SERVICE_UNAVAILABLE.
   */
  readonly waitBeyond: (position: number, signal: AbortSignal) => Promise<void>;
  /** Removes events that are older than `hours`, and makes room for the next days. */
  readonly sweep: (hours: number) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** What the events of a subgraph are created from. */
export interface EventsOptions {
  readonly url: string;
  readonly database: Pick<Database, 'query'>;
  readonly topics: Topics;
  readonly log: Log;
  /** How long subscribers wait for a database that cannot be reached, in milliseconds. */
  readonly outageMs?: number;
  /** How often events are read without a notification, in milliseconds. Default: 2000. */
  readonly pollMs?: number;
}

const PAGE = 500;

/** Creates the events of a subgraph. It connects when the first subscriber comes. */
export function createEvents({ url, database, topics, ...readerOptions }: EventsOptions): Events {
  const dispatcher = createDispatcher();
  const findTopics = createTopicFinder(topics);
  /** The position up to which everything was dispatched. */
  let last = 0;
  const mark = new HistoryMark();
  const waiters = createProgressWaiters(() => last);

  const reader = new EventReader({
    ...readerOptions,
    url,
    onOutage: dispatcher.end,
    async read(query, isFirst) {
      const { oldest, settled, newest, isSettled } = await readBounds(query);
      const findId = (position: number) => findEventId(query, position);
      if (newest < last || (isFirst && !(await mark.isStored(findId, oldest)))) {
        dispatcher.end(reset());
        last = settled;
      }
      // Checked after the bounds were read, since a subscriber may have come meanwhile.
      if (dispatcher.isEmpty()) last = isFirst ? settled : Math.max(last, settled);
      while (last < settled) last = await dispatchPage({ query, range: { after: last, upTo: settled, limit: PAGE }, ...shared });
      await mark.set(dispatcher.isEmpty() ? undefined : last, findId);
      waiters.wake();
      return isSettled;
    },
  });
  const shared = { topics, findTopics, dispatcher };

  async function readHistory({ topic, where }: EventSelection, after: number, limit: number): Promise<History> {
    // What this process has dispatched is settled, though a later look may not show it any more.
    const dispatched = last;
    const bounds = await readBounds(database.query);
    const settled = Math.max(bounds.settled, dispatched);
    const types = topics[topic]?.types ?? [];
    const events = await readSelectedEvents(database.query, { types, where }, { after, upTo: settled, limit });
    return { ...bounds, settled, events: findTopics(events) };
  }

  return {
    open: (selection, after) =>
      new SourceStream({
        after,
        readHistory: (position, limit) => orUnavailable(readHistory(selection, position, limit)),
        loadRows: (events) => orUnavailable(loadRows(topics, events)),
        catchUp: () => reader.catchUp(),
        findId: (position) => orUnavailable(findEventId(database.query, position)),
        position: () => last,
        subscribe: (subscriber) => dispatcher.subscribe(selection, subscriber),
      }),
    recent: (topic, seconds, subject) => orUnavailable(readRecent(database.query, { types: topics[topic]?.types ?? [], seconds, subject })),
    position: () => last,
    async waitBeyond(position, signal) {
      await reader.catchUp();
      await waiters.wait(position, signal);
    },
    sweep: (hours) => maintainOutbox(database.query, hours),
    async close() {
      dispatcher.end(stopping());
      await reader.close();
    },
  };
}

interface DispatchOptions {
  readonly query: Query;
  readonly range: Range;
  readonly topics: Topics;
  readonly findTopics: (events: readonly StoredEvent[]) => TopicEvent[];
  readonly dispatcher: Dispatcher;
}

/** Reads a page of events, loads the rows of those that have subscribers, and dispatches them. Resolves with the last position. */
async function dispatchPage({ query, range, topics, findTopics, dispatcher }: DispatchOptions): Promise<number> {
  const stored = await readEvents(query, range);
  const events = findTopics(stored);
  const rows = new Map<TopicEvent, object>();
  const loaded = new Set<TopicEvent>();
  // While rows are loaded, a subscriber may come who needs others.
  for (let missing = events.filter(dispatcher.hasSubscribers); missing.length > 0;) {
    for (const [event, row] of await loadRows(topics, missing)) rows.set(event, row);
    for (const event of missing) loaded.add(event);
    missing = events.filter((event) => !loaded.has(event) && dispatcher.hasSubscribers(event));
  }
  for (const event of events) {
    const row = rows.get(event);
    if (row) dispatcher.dispatch(event, row);
  }
  return stored.length < range.limit ? range.upTo : (stored.at(-1)?.position ?? range.upTo);
}

/** Returns the error after a reset of the database, for example by a restored backup: its positions are counted again. */
export function reset(): Fault {
  return fail('SERVICE_UNAVAILABLE', 'Positions were reset. Subscribe without a position.', { retryAfterSeconds: 1 });
}

async function orUnavailable<T>(reading: Promise<T>): Promise<T> {
  return reading.catch((cause: unknown) => {
    throw cause instanceof Fault ? cause : unavailable(cause);
  });
}
