/** The live events of a subgraph: read once from its database, handed to every subscriber of this process (ADR 8). */
import type { Log } from '@trestle/log';
import { Fault, fail } from '@trestle/schema/errors';
import type { Database } from '../database/database.ts';
import { createEventFeed } from './event-feed.ts';
import { createEventHub } from './event-hub.ts';
import type { Query } from '../database/query.ts';
import { type StoredEvent, readBounds, readEvents, readHistory, readRecent, sweepEvents } from './event-log.ts';
import { type EventStream, createEventStream } from './event-stream.ts';
import type { Listening } from './listening.ts';

/**
 * By topic, which is the name of the subscription's field if there is one: loads what events tell of, in one statement; null where it is no longer
 * there, and then nobody is told.
 */
export type Topics = Readonly<Record<string, (events: readonly StoredEvent[]) => Promise<readonly (object | null)[]>>>;

/** Loads a topic's rows by the ids that its events carry. */
export function loadByEntityId<Row extends { readonly id: string }>(findByIds: (ids: readonly string[]) => Promise<readonly Row[]>) {
  return async (events: readonly StoredEvent[]): Promise<(Row | null)[]> => {
    const rows = new Map((await findByIds([...new Set(events.map(({ entityId }) => entityId))])).map((row) => [row.id, row]));
    return events.map(({ entityId }) => rows.get(entityId) ?? null);
  };
}

export interface Events {
  /** What somebody who listens is to be told, from behind the position `after`, or from now on. Nothing happens before its `start`. */
  open(listening: Listening, after?: number): EventStream;
  /** What happened of a topic within the last seconds. Throws SERVICE_UNAVAILABLE. */
  readonly recent: (topic: string, seconds: number) => Promise<StoredEvent[]>;
  /** Forgets what is older than 24 hours. */
  sweep(): Promise<void>;
  close(): Promise<void>;
}

export interface EventsOptions {
  readonly url: string;
  readonly database: Pick<Database, 'query'>;
  readonly topics: Topics;
  readonly log: Log;
  /** How long subscribers are left waiting for a database that can't be reached. */
  readonly patienceMs?: number;
}

const PAGE = 500;

/** Connects when the first subscriber comes. */
export function createEvents({ url, database, topics, ...feedOptions }: EventsOptions): Events {
  const hub = createEventHub();
  /** Everything up to here has been handed out. */
  let last = 0;

  const feed = createEventFeed({
    ...feedOptions,
    url,
    onLost: hub.end,
    async read(query) {
      const { newest } = await readBounds(query);
      // A database that was set back, by a restored backup say, counts again what was counted before.
      if (newest < last) hub.end(fail('SERVICE_UNAVAILABLE', 'Positions have been set back', { retryAfterSeconds: 1 }));
      // Asked only now: somebody may have come while the bounds were read.
      if (newest < last || hub.isEmpty()) last = newest;
      while (last < newest) await handOut(query);
    },
  });

  async function handOut(query: Query): Promise<void> {
    const events = await readEvents(query, { after: last, limit: PAGE });
    const rows = new Map<StoredEvent, object>();
    const looked = new Set<StoredEvent>();
    // While rows are loaded somebody may come who wants others.
    for (let missing = events.filter(hub.isWanted); missing.length > 0;) {
      for (const [event, row] of await loadRows(topics, missing)) rows.set(event, row);
      for (const event of missing) looked.add(event);
      missing = events.filter((event) => !looked.has(event) && hub.isWanted(event));
    }
    for (const event of events) {
      const row = rows.get(event);
      if (row) hub.handOut(event, row);
      last = event.position;
    }
  }

  return {
    open: (listening, after) =>
      createEventStream({
        listening,
        after,
        history: (position, limit) => orUnavailable(readHistory(database.query, listening, { after: position, limit })),
        loadRows: (events) => orUnavailable(loadRows(topics, events)),
        catchUp: feed.catchUp,
        position: () => last,
        attach: (receiver) => hub.attach(listening, receiver),
      }),
    recent: (topic, seconds) => orUnavailable(readRecent(database.query, topic, seconds)),
    sweep: () => sweepEvents(database.query),
    async close() {
      hub.end(fail('SERVICE_UNAVAILABLE', 'The service is stopping', { retryAfterSeconds: 1 }));
      await feed.close();
    },
  };
}

/** One statement a topic. What is no longer there is left out. */
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
    throw cause instanceof Fault
      ? cause
      : fail('SERVICE_UNAVAILABLE', 'Events can not be read at the moment', { cause, retryAfterSeconds: 1 });
  });
}
