/** Reads the table `outbox` (ADR 24) in the order of positions. Triggers write its rows in the transaction of the change. */
import type { Audience } from '@trestle/schema/event-types';
import type { Query } from '../../database/query.ts';
import type { EventFilter } from './event-selection.ts';

/** A row of the table. */
export interface StoredEvent {
  /** Grows with each event. The events of one entity have the order of its changes; there are gaps. */
  readonly position: number;
  readonly id: string;
  /** What happened, e.g. `order.paid`. */
  readonly type: string;
  /** The id of the entity that has changed. */
  readonly subject: string;
  /** The account that the event concerns. */
  readonly ownerId: string | null;
  /** Null for an event that only processes of its own subgraph read. */
  readonly audience: Audience | null;
  readonly data: Readonly<Record<string, unknown>>;
  readonly createdAt: Date;
}

/** Positions of the table at one moment. An empty table has 1, 0 and 0. */
export interface Bounds {
  /** Events before it have been removed. */
  readonly oldest: number;
  /** The last event before which no event will appear any more. */
  readonly settled: number;
  /** The last event that is stored. Others may still appear before it. */
  readonly newest: number;
}

/** Which events are read: behind `after`, not beyond `upTo`, at most `limit`, which is 1 or more. */
export interface Range {
  readonly after: number;
  readonly upTo: number;
  readonly limit: number;
}

const COLUMNS = `"position"::float8 AS "position", "id", "type", "subject", "ownerId", "audience", "data", "createdAt"`;

/** Reads the bounds of the table. `isSettled` is false while transactions are about to commit events, or to notify of them. */
export async function readBounds(query: Query): Promise<Bounds & { readonly isSettled: boolean }> {
  const [bounds] = await query<Bounds & { isSettled: boolean }>(
    `SELECT "oldest"::float8, "settled"::float8, "newest"::float8, "isSettled" FROM "read_outbox_bounds"()`,
  );
  return bounds ?? { oldest: 1, settled: 0, newest: 0, isSettled: true };
}

/**
 * The end of a page: a statement that stops at the limit. PostgreSQL must not use the upper bound for its plan: while a table has no statistics, it
 * would expect few rows, and read and sort everything behind `after` for each page.
 */
const TO_LIMIT = `AND "position" + 0 <= $2 ORDER BY "outbox"."position" LIMIT $3`;

/** Reads events of all types. */
export function readEvents(query: Query, { after, upTo, limit }: Range): Promise<StoredEvent[]> {
  return query<StoredEvent>(`SELECT ${COLUMNS} FROM "outbox" WHERE "position" > $1 ${TO_LIMIT}`, [after, upTo, limit]);
}

/** Resolves with the id of the event at a position; undefined when none is stored there. */
export async function findEventId(query: Query, position: number): Promise<string | undefined> {
  const [event] = await query<Pick<StoredEvent, 'id'>>('SELECT "id" FROM "outbox" WHERE "position" = $1', [position]);
  return event?.id;
}

/** Reads events that other subgraphs may read. */
export function readSharedEvents(query: Query, { after, upTo, limit }: Range): Promise<StoredEvent[]> {
  return query<StoredEvent>(`SELECT ${COLUMNS} FROM "outbox" WHERE "position" > $1 AND "audience" IS NOT NULL ${TO_LIMIT}`, [
    after,
    upTo,
    limit,
  ]);
}

/**
 * Reads events that other subgraphs may read, in the statement that also looks whether the event at `after` has this id. Resolves with undefined
 * when it has not, or when it is not stored any more.
 */
export async function readSharedEventsBehind(query: Query, id: string, { after, upTo, limit }: Range): Promise<StoredEvent[] | undefined> {
  const [first, ...events] = await query<StoredEvent>(
    `SELECT ${COLUMNS} FROM "outbox" WHERE "position" >= $1 AND ("audience" IS NOT NULL OR "position" = $1) ${TO_LIMIT}`,
    [after, upTo, limit + 1],
  );
  return first?.position === after && first.id === id ? events : undefined;
}

/** Reads events of some types whose attributes have these values. */
export function readSelectedEvents(
  query: Query,
  { types, where }: { readonly types: readonly string[]; readonly where: EventFilter },
  { after, upTo, limit }: Range,
): Promise<StoredEvent[]> {
  const { subject = null, ownerId = null, ...data } = where;
  return query<StoredEvent>(
    `SELECT ${COLUMNS} FROM "outbox"
     WHERE "position" > $1 AND "position" <= $2 AND "type" = ANY($4::text[]) AND "data" @> $5::jsonb
       AND ($6::text IS NULL OR "subject" = $6) AND ($7::text IS NULL OR "ownerId" = $7)
     ORDER BY "outbox"."position" LIMIT $3`,
    [after, upTo, limit, types, JSON.stringify(data), subject, ownerId],
  );
}

/** Which recent events are read. */
export interface RecentSelection {
  readonly types: readonly string[];
  /** How long ago they were written at most. */
  readonly seconds: number;
  /** A pattern of LIKE for their subjects; all by default. */
  readonly subject?: string | undefined;
}

/** Reads all events that were written within the last seconds, also those that are not settled. */
export function readRecent(query: Query, { types, seconds, subject }: RecentSelection): Promise<StoredEvent[]> {
  return query<StoredEvent>(
    `SELECT ${COLUMNS} FROM "outbox" WHERE "type" = ANY($1::text[]) AND "createdAt" > now() - $2::int * interval '1 second'
       AND ($3::text IS NULL OR "subject" LIKE $3)
     ORDER BY "outbox"."position"`,
    [types, seconds, subject ?? null],
  );
}

/** Returns the values by which an event is selected. */
export function attributesOf({ subject, ownerId, data }: Pick<StoredEvent, 'subject' | 'ownerId' | 'data'>): Record<string, unknown> {
  return { ...data, subject, ownerId };
}

/** Begins a new table once a day, and drops those whose events are all older than `hours`. */
export async function maintainOutbox(query: Query, hours: number): Promise<void> {
  await query(`SELECT "maintain_outbox"($1::int * interval '1 hour')::text`, [hours]);
}
