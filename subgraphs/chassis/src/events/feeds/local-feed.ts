/** The events of this process's own subgraph, read from its outbox: the source of every other feed (ADR 24). */
import { followSignal } from '@trestle/http-client/follow-signal';
import { fail } from '@trestle/schema/errors';
import type { Database } from '../../database/database.ts';
import type { Query } from '../../database/query.ts';
import { type EventFeed, type FeedPosition, parseFeedPosition, toDomainEvent } from './domain-event.ts';
import { type Range, type StoredEvent, readBounds, readSharedEvents, readSharedEventsBehind } from '../outbox/event-log.ts';
import type { Events } from '../source-streams/events.ts';

/** How long a read waits for the first event. */
const WAIT_MS = 20_000;

/** What the feed is created from. */
export interface LocalFeedOptions {
  readonly source: string;
  readonly database: Pick<Database, 'query'>;
  readonly events: Pick<Events, 'position' | 'waitBeyond'>;
  /** How long a read waits for the first event, in milliseconds. */
  readonly waitMs?: number;
}

/** Creates the feed of the outbox. */
export function createLocalFeed({ source, database: { query }, events, waitMs = WAIT_MS }: LocalFeedOptions): EventFeed {
  return {
    source,
    async read(after, limit, signal) {
      const start = after === undefined ? undefined : parsePosition(after);
      const from = start?.position ?? 0;
      const wait = followSignal(signal, waitMs);
      try {
        for (;;) {
          // What this process has dispatched is settled, though a later look may not show it any more.
          const dispatched = events.position();
          const upTo = dispatched > from ? dispatched : Math.max((await readBounds(query)).settled, dispatched);
          // The start is checked again after each wait: the database may have been restored meanwhile.
          const page = await readPage(query, start, { after: from, upTo, limit });
          signal.throwIfAborted();
          if (page.length > 0 || wait.signal.aborted) return page.map((event) => toDomainEvent(event, source));
          await events.waitBeyond(Math.max(from, upTo), wait.signal);
        }
      } finally {
        wait.end();
      }
    },
  };
}

/** Reads the events of the range, and checks the position of the reader, in one statement if its event is stored. Throws GONE. */
async function readPage(query: Query, start: FeedPosition | undefined, range: Range): Promise<StoredEvent[]> {
  if (!start) return readSharedEvents(query, range);
  const page = await readSharedEventsBehind(query, start.id, { ...range, after: start.position });
  if (page) return page;
  await checkPosition(query, start);
  return readSharedEvents(query, range);
}

/** Parses the position of an event. Throws VALIDATION_ERROR. */
function parsePosition(after: string): FeedPosition {
  const parsed = parseFeedPosition(after);
  if (!parsed) throw fail('VALIDATION_ERROR', '`after` must be the position of an event.');
  return parsed;
}

/** Throws GONE unless the next event behind the position is still kept. */
async function checkPosition(query: Query, { position, id }: FeedPosition): Promise<void> {
  const [found] = await query<{ removed: number; id: string | null }>(
    `SELECT r."position"::float8 AS "removed", (SELECT "id" FROM "outbox" WHERE "position" = $1) AS "id" FROM "outbox_removed" r`,
    [position],
  );
  // The event itself may have been removed, as long as the next one was not.
  const isKnown = found && (found.id === id || (found.id === null && found.removed === position));
  if (!isKnown) throw fail('GONE', `Position ${String(position)}.${id} is no longer available. Read without a position.`);
}
