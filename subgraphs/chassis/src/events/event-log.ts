/** The table `events` (ADR 8): reads it in order, and sweeps what is old. Its rows are written by triggers in the writer's transaction. */
import type { Query } from '../database/query.ts';
import type { Listening } from './listening.ts';

export interface StoredEvent {
  /** Counts up by one with each event, in the order in which their transactions were committed. */
  readonly position: number;
  readonly topic: string;
  readonly entityId: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** What is kept: nothing has happened since `newest`; what happened before `oldest` is forgotten. Without any event they are 1 and 0. */
export interface Bounds {
  readonly oldest: number;
  readonly newest: number;
}

const BOUNDS = `coalesce((SELECT min("position") FROM "events"), 1)::float8 AS "oldest", coalesce((SELECT max("position") FROM "events"), 0)::float8 AS "newest"`;
const COLUMNS = `"position"::float8 AS "position", "topic", "entityId", "data"`;
const SWEEP_ROWS = 1000;

export async function readBounds(query: Query): Promise<Bounds> {
  const [bounds] = await query<Bounds>(`SELECT ${BOUNDS}`);
  return bounds ?? { oldest: 1, newest: 0 };
}

/** Up to `limit` events behind a position, whatever they are about. */
export function readEvents(query: Query, { after, limit }: { after: number; limit: number }): Promise<StoredEvent[]> {
  return query<StoredEvent>(`SELECT ${COLUMNS} FROM "events" WHERE "position" > $1 ORDER BY "events"."position" LIMIT $2`, [after, limit]);
}

/** Up to `limit` events of one kind behind a position, and what was kept at that very moment. */
export async function readHistory(
  query: Query,
  { topic, where }: Pick<Listening, 'topic' | 'where'>,
  { after, limit }: { after: number; limit: number },
): Promise<Bounds & { readonly events: readonly StoredEvent[] }> {
  const [page] = await query<Bounds & { events: StoredEvent[] }>(
    `SELECT ${BOUNDS}, coalesce((SELECT json_agg(e ORDER BY e."position") FROM (
       SELECT ${COLUMNS} FROM "events" WHERE "position" > $1 AND "topic" = $2 AND "data" @> $3::jsonb ORDER BY "events"."position" LIMIT $4
     ) e), '[]') AS "events"`,
    [after, topic, JSON.stringify(where), limit],
  );
  return page ?? { oldest: 1, newest: 0, events: [] };
}

/** All events of a topic that happened within the last seconds, up to this moment. */
export function readRecent(query: Query, topic: string, seconds: number): Promise<StoredEvent[]> {
  return query<StoredEvent>(
    `SELECT ${COLUMNS} FROM "events" WHERE "topic" = $1 AND "createdAt" > now() - $2::int * interval '1 second' ORDER BY "events"."position"`,
    [topic, seconds],
  );
}

/**
 * Forgets what is older than 24 hours, some rows at a time, from the oldest on: what is kept has no holes. The newest event stays
 * however old it is, since positions are counted on from it.
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
