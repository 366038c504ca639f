/** The live events of a subgraph: read once from its database, dispatched to every subscriber of this process (ADR 8). */
import type { Log } from '@trestle/log';
import { Fault, fail } from '@trestle/schema/errors';
import type { Database } from '../database/database.ts';
import type { Query } from '../database/query.ts';
import { type Dispatcher, createDispatcher } from './dispatcher.ts';
import { type StoredEvent, readBounds, readEvents, readHistory, readRecent, sweepEvents } from './event-log.ts';
import { EventReader, stopping, unavailable } from './event-reader.ts';
import type { EventSelection } from './event-selection.ts';
import { SourceStream } from './source-stream.ts';

/** Loads the rows that events are about, in one statement; null for a row that no longer exists, whose event is not delivered. */
export type LoadTopic = (events: readonly StoredEvent[]) => Promise<readonly (object | null)[]>;

/** How to load the rows of each topic. A topic is named after the subscription's field, if there is one. */
export type Topics = Readonly<Record<string, LoadTopic>>;

/** Creates the function that loads the rows of a topic by the entity ids of its events. */
export function loadByEntityId<Row extends { readonly id: string }>(findByIds: (ids: readonly string[]) => Promise<readonly Row[]>) {
  return async (events: readonly StoredEvent[]): Promise<(Row | null)[]> => {
    const rows = new Map((await findByIds([...new Set(events.map(({ entityId }) => entityId))])).map((row) => [row.id, row]));
    return events.map(({ entityId }) => rows.get(entityId) ?? null);
  };
}

/** The events of a subgraph. */
export interface Events {
  /** Creates the stream of the selected events, from behind the position `after`, or from now on. It begins with its `start`. */
  readonly open: (selection: EventSelection, after?: number) => SourceStream;
  /** Returns the events of a topic of the last seconds. Throws SERVICE_UNAVAILABLE. */
  readonly recent: (topic: string, seconds: number) => Promise<StoredEvent[]>;
  /** Deletes events that are older than 24 hours. */
  readonly sweep: () => Promise<void>;
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
}

const PAGE = 500;

/** Creates the events of a subgraph. It connects when the first subscriber comes. */
export function createEvents({ url, database, topics, ...readerOptions }: EventsOptions): Events {
  const dispatcher = createDispatcher();
  /** The position up to which everything was dispatched. */
  let last = 0;

  const reader = new EventReader({
    ...readerOptions,
    url,
    onOutage: dispatcher.end,
    async read(query) {
      const { newest } = await readBounds(query);
      // In a database that was reset, for example by a restored backup, positions are counted again.
      if (newest < last)
        dispatcher.end(fail('SERVICE_UNAVAILABLE', 'Positions were reset. Subscribe without a position.', { retryAfterSeconds: 1 }));
      // Checked after the bounds were read, since a subscriber may have come meanwhile.
      if (newest < last || dispatcher.isEmpty()) last = newest;
      while (last < newest) last = await dispatchPage({ query, after: last, newest, topics, dispatcher });
    },
  });

  return {
    open: (selection, after) =>
      new SourceStream({
        after,
        readHistory: (position, limit) => orUnavailable(readHistory(database.query, selection, { after: position, limit })),
        loadRows: (events) => orUnavailable(loadRows(topics, events)),
        catchUp: () => reader.catchUp(),
        position: () => last,
        subscribe: (subscriber) => dispatcher.subscribe(selection, subscriber),
      }),
    recent: (topic, seconds) => orUnavailable(readRecent(database.query, topic, seconds)),
    sweep: () => sweepEvents(database.query),
    async close() {
      dispatcher.end(stopping());
      await reader.close();
    },
  };
}

interface DispatchOptions {
  readonly query: Query;
  readonly after: number;
  readonly newest: number;
  readonly topics: Topics;
  readonly dispatcher: Dispatcher;
}

/** Reads a page of events, loads the rows of those that have subscribers, and dispatches them. Resolves with the last position. */
async function dispatchPage({ query, after, newest, topics, dispatcher }: DispatchOptions): Promise<number> {
  const events = await readEvents(query, { after, limit: PAGE });
  const rows = new Map<StoredEvent, object>();
  const loaded = new Set<StoredEvent>();
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
  return events.at(-1)?.position ?? newest;
}

/** Runs one statement for each topic. Events whose row no longer exists are left out. */
async function loadRows(topics: Topics, events: readonly StoredEvent[]): Promise<Map<StoredEvent, object>> {
  const rows = new Map<StoredEvent, object>();
  for (const topic of new Set(events.map((event) => event.topic))) {
    const ofTopic = events.filter((event) => event.topic === topic);
    const loaded = (await topics[topic]?.(ofTopic)) ?? [];
    ofTopic.forEach((event, i) => {
      const row = loaded[i];
      if (row) rows.set(event, row);
    });
  }
  return rows;
}

async function orUnavailable<T>(reading: Promise<T>): Promise<T> {
  return reading.catch((cause: unknown) => {
    throw cause instanceof Fault ? cause : unavailable(cause);
  });
}
