/** How far a consumer has consumed a feed: a row in the consumer's own database, locked while the effect of events is made (ADR 24). */
import type { Query } from '../../database/query.ts';

/** Names a consumer of one feed. */
export interface ConsumerKey {
  /** The name of the effect, unique in the consumer's database. */
  readonly consumer: string;
  /** The subgraph whose events are consumed. */
  readonly source: string;
}

/** What is stored of a consumer. */
export interface StoredPosition {
  /** The position of the last event that was consumed; undefined before the first. */
  readonly position: string | undefined;
  /** The event behind it whose effect has failed so many times. */
  readonly failedEventId: string | null;
  readonly failures: number;
}

interface Row extends Omit<StoredPosition, 'position'> {
  readonly position: string | null;
}

/** Reads the position. Creates the row at the first call. */
export async function readPosition({ consumer, source }: ConsumerKey, query: Query): Promise<string | undefined> {
  await query('INSERT INTO "feed_positions" ("consumer", "source") VALUES ($1, $2) ON CONFLICT DO NOTHING', [consumer, source]);
  const [row] = await query<Pick<Row, 'position'>>('SELECT "position" FROM "feed_positions" WHERE "consumer" = $1 AND "source" = $2', [
    consumer,
    source,
  ]);
  return row?.position ?? undefined;
}

/** Reads the position, and keeps other processes from changing it until the transaction has ended. */
export async function lockPosition({ consumer, source }: ConsumerKey, query: Query): Promise<StoredPosition> {
  const [row] = await query<Row>(
    'SELECT "position", "failedEventId", "failures" FROM "feed_positions" WHERE "consumer" = $1 AND "source" = $2 FOR UPDATE',
    [consumer, source],
  );
  return { failedEventId: row?.failedEventId ?? null, failures: row?.failures ?? 0, position: row?.position ?? undefined };
}

/** Stores that everything up to the position was consumed; undefined for nothing yet. */
export async function storePosition({ consumer, source }: ConsumerKey, query: Query, position: string | undefined): Promise<void> {
  await query(
    `UPDATE "feed_positions" SET "position" = $3, "failedEventId" = NULL, "failures" = 0, "updatedAt" = now()
     WHERE "consumer" = $1 AND "source" = $2`,
    [consumer, source, position ?? null],
  );
}

/** Stores how many times the effect of the next event has failed. */
export async function storeFailures(
  { consumer, source }: ConsumerKey,
  query: Query,
  { failedEventId, failures }: Omit<StoredPosition, 'position'>,
): Promise<void> {
  await query('UPDATE "feed_positions" SET "failedEventId" = $3, "failures" = $4 WHERE "consumer" = $1 AND "source" = $2', [
    consumer,
    source,
    failedEventId,
    failures,
  ]);
}
