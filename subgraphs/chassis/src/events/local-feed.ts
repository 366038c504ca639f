/** The events of this process's own subgraph, read from its outbox: the source of every other feed (ADR 24). */
import { fail } from '@trestle/schema/errors';
import type { Database } from '../database/database.ts';
import type { Query } from '../database/query.ts';
import { type DomainEvent, type EventFeed, parseFeedPosition, toDomainEvent } from './domain-event.ts';
import { readBounds, readSharedEvents } from './event-log.ts';
import type { Events } from './events.ts';

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
      const timeout = AbortSignal.any([signal, AbortSignal.timeout(waitMs)]);
      let from = after === undefined ? 0 : await checkPosition(query, after);
      for (;;) {
        // What this process has dispatched is settled, though a later look may not show it any more.
        const dispatched = events.position();
        const upTo = dispatched > from ? dispatched : Math.max((await readBounds(query)).settled, dispatched);
        const page = await readSharedEvents(query, { after: from, upTo, limit });
        signal.throwIfAborted();
        if (page.length > 0 || timeout.aborted) return page.map((event) => toDomainEvent(event, source));
        from = Math.max(from, upTo);
        await events.waitBeyond(from, timeout);
      }
    },
  };
}

/** Resolves with the position as a number. Throws GONE, or VALIDATION_ERROR. */
async function checkPosition(query: Query, after: DomainEvent['position']): Promise<number> {
  const parsed = parseFeedPosition(after);
  if (!parsed) throw fail('VALIDATION_ERROR', '`after` must be the position of an event.');
  const [found] = await query<{ removed: number; id: string | null }>(
    `SELECT r."position"::float8 AS "removed", (SELECT "id" FROM "outbox" WHERE "position" = $1) AS "id" FROM "outbox_removed" r`,
    [parsed.position],
  );
  // The event itself may have been removed, as long as the next one was not.
  const isKnown = found && (found.id === parsed.id || (found.id === null && found.removed === parsed.position));
  if (!isKnown) throw fail('GONE', `Position ${after} is no longer available. Read without a position.`);
  return parsed.position;
}
