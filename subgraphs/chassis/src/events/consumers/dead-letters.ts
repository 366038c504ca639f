/**
 * Events that a consumer has set aside, because their effect failed again and again, and those of the same subject behind them (ADR 24).
 * Statements for one transaction, which holds the lock of the consumer's position.
 */
import type { Query } from '../../database/query.ts';
import type { DomainEvent } from '../feeds/domain-event.ts';
import type { ConsumerKey } from './feed-position.ts';

/** An event that is to be consumed again. */
export interface DeadLetter {
  readonly number: string;
  readonly event: DomainEvent;
}

/** What a failed effect is reported with. */
export interface Failure {
  readonly error: unknown;
  readonly failures: number;
}

/** Longer messages are cut. */
const MAX_ERROR_LENGTH = 500;

/** Sets an event aside with the error of its last attempt. */
export async function setAside(key: ConsumerKey, query: Query, { event, error, failures }: Failure & { readonly event: DomainEvent }) {
  await insert(key, query, { events: [event], error: describe(error), failures });
}

/**
 * Sets those events aside whose subject has an event there already, so that the events of a subject keep their order. Resolves with the others,
 * which are to be consumed now.
 */
export async function holdBehind(key: ConsumerKey, query: Query, events: readonly DomainEvent[]): Promise<readonly DomainEvent[]> {
  const rows = await query<{ subject: string }>(
    'SELECT DISTINCT "subject" FROM "dead_letters" WHERE "consumer" = $1 AND "source" = $2 AND "subject" = ANY($3::text[])',
    [key.consumer, key.source, [...new Set(events.map(({ subject }) => subject))]],
  );
  if (rows.length === 0) return events;
  const subjects = new Set(rows.map(({ subject }) => subject));
  await insert(key, query, { events: events.filter(({ subject }) => subjects.has(subject)), error: null, failures: 0 });
  return events.filter(({ subject }) => !subjects.has(subject));
}

/** Counts the events that are set aside. */
export async function countDeadLetters({ consumer, source }: ConsumerKey, query: Query): Promise<number> {
  const [row] = await query<{ count: number }>(
    'SELECT count(*)::int AS "count" FROM "dead_letters" WHERE "consumer" = $1 AND "source" = $2',
    [consumer, source],
  );
  return row?.count ?? 0;
}

/**
 * Finds the next event to consume again: the first of its subject, when its replay was requested, or when it has only waited for one that is no
 * longer there.
 */
export async function findReplay({ consumer, source }: ConsumerKey, query: Query): Promise<DeadLetter | undefined> {
  const [row] = await query<DeadLetter>(
    `SELECT "number"::text, "event" FROM (
       SELECT DISTINCT ON ("subject") "number", "event", "error", "replayAt" FROM "dead_letters" WHERE "consumer" = $1 AND "source" = $2
       ORDER BY "subject", "number"
     ) d WHERE "error" IS NULL OR "replayAt" <= now() ORDER BY d."number" LIMIT 1`,
    [consumer, source],
  );
  return row;
}

/** Deletes an event that was consumed. */
export async function deleteDeadLetter(query: Query, number: string): Promise<void> {
  await query('DELETE FROM "dead_letters" WHERE "number" = $1::bigint', [number]);
}

/** Stores that an event has failed again: its replay must be requested anew. */
export async function storeReplayFailure(query: Query, number: string, error: unknown): Promise<void> {
  await query(
    'UPDATE "dead_letters" SET "error" = $2, "failures" = "failures" + 1, "failedAt" = now(), "replayAt" = NULL WHERE "number" = $1::bigint',
    [number, describe(error)],
  );
}

interface Insertion {
  readonly events: readonly DomainEvent[];
  readonly error: string | null;
  readonly failures: number;
}

/** An event that comes again, after a gap, has its place already. */
async function insert({ consumer, source }: ConsumerKey, query: Query, { events, error, failures }: Insertion): Promise<void> {
  await query(
    `INSERT INTO "dead_letters" ("consumer", "source", "eventId", "subject", "event", "error", "failures", "failedAt")
     SELECT $1, $2, e."event"->>'id', e."event"->>'subject', e."event", $4::text, $5::int, CASE WHEN $4::text IS NOT NULL THEN now() END
     FROM jsonb_array_elements($3::jsonb) WITH ORDINALITY AS e("event", "n") ORDER BY e."n"
     ON CONFLICT ("consumer", "source", "eventId") DO NOTHING`,
    [consumer, source, JSON.stringify(events), error, failures],
  );
}

function describe(error: unknown): string {
  return (error instanceof Error ? `${error.name}: ${error.message}` : String(error)).replaceAll('\0', '').slice(0, MAX_ERROR_LENGTH);
}
