/** The table `events` (ADR 8): reads it in order, and deletes old rows. Triggers write its rows in the transaction of the change. */
import type { Query } from '../database/query.ts';
import type { EventSelection } from './event-selection.ts';

/** A row of the table. */
export interface StoredEvent {
  /** Grows by one with each event, in the order in which their transactions were committed. */
  readonly position: number;
  readonly topic: string;
  readonly entityId: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The positions that are stored: `newest` is the last event, and events before `oldest` have been deleted. An empty table has 1 and 0. */
export interface Bounds {
  readonly oldest: number;
  readonly newest: number;
}

/** A page of events, and the bounds at the moment when it was read. */
export type History = Bounds & { readonly events: readonly StoredEvent[] };

const BOUNDS = `coalesce((SELECT min("position") FROM "events"), 1)::float8 AS "oldest", coalesce((SELECT max("position") FROM "events"), 0)::float8 AS "newest"`;
const COLUMNS = `"position"::float8 AS "position", "topic", "entityId", "data"`;
const SWEEP_ROWS = 1000;

/** Reads the bounds of the table. */
export async function readBounds(query: Query): Promise<Bounds> {
  const [bounds] = await query<Bounds>(`SELECT ${BOUNDS}`);
  return bounds ?? { oldest: 1, newest: 0 };
}

/** Reads up to `limit` events behind a position, of all topics. */
export function readEvents(query: Query, { after, limit }: { after: number; limit: number }): Promise<StoredEvent[]> {
  return query<StoredEvent>(`SELECT ${COLUMNS} FROM "events" WHERE "position" > $1 ORDER BY "events"."position" LIMIT $2`, [after, limit]);
}

/** Reads up to `limit` selected events behind a position, and the bounds at the same moment. */
export async function readHistory(
  query: Query,
  { topic, where }: Pick<EventSelection, 'topic' | 'where'>,
  { after, limit }: { after: number; limit: number },
): Promise<History> {
  const [page] = await query<History>(
    `SELECT ${BOUNDS}, coalesce((SELECT json_agg(e ORDER BY e."position") FROM (
       SELECT ${COLUMNS} FROM "events" WHERE "position" > $1 AND "topic" = $2 AND "data" @> $3::jsonb ORDER BY "events"."position" LIMIT $4
     ) e), '[]') AS "events"`,
    [after, topic, JSON.stringify(where), limit],
  );
  return page ?? { oldest: 1, newest: 0, events: [] };
}

/** Reads all events of a topic that were written within the last seconds. */
export function readRecent(query: Query, topic: string, seconds: number): Promise<StoredEvent[]> {
  return query<StoredEvent>(
    `SELECT ${COLUMNS} FROM "events" WHERE "topic" = $1 AND "createdAt" > now() - $2::int * interval '1 second' ORDER BY "events"."position"`,
    [topic, seconds],
  );
}

/**
 * Deletes events that are older than `hours` in batches, oldest first, so that the remaining positions have no gaps.
 * The newest event stays whatever its age, since positions are counted from it.
 */
export async function sweepEvents(query: Query, hours = 24): Promise<void> {
  const [first] = await query<{ position: number | null }>(
    `SELECT coalesce(
       (SELECT "position" FROM "events" WHERE "createdAt" > now() - $1::int * interval '1 hour' ORDER BY "position" LIMIT 1),
       (SELECT max("position") FROM "events")
     )::float8 AS "position"`,
    [hours],
  );
  for (let deleted = SWEEP_ROWS; deleted === SWEEP_ROWS;) {
    const rows = await query(
      `DELETE FROM "events" WHERE "position" IN (SELECT "position" FROM "events" WHERE "position" < $1 ORDER BY "position" LIMIT ${String(SWEEP_ROWS)}) RETURNING 1`,
      [first?.position ?? 0],
    );
    deleted = rows.length;
  }
}
