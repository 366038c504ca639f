/** The queue's own schema, `graphile_worker`: brings it up to date, and repairs what stopped workers leave behind. */
import { withClient } from '@trestle/postgres/client';
import type { Log } from '@trestle/log';
import { Logger, runMigrations } from 'graphile-worker';
import type { Query } from '../database/query.ts';

/** Key of the advisory lock under which one process migrates the queue. */
const QUEUE_LOCK = 72707371;

/** Creates or updates the schema. Several processes may do it at once. The role of the URL must be allowed to create schemas. */
export async function migrateQueue(url: string, log: Log): Promise<void> {
  await withClient(url, async (client) => {
    await client.query('SELECT pg_advisory_lock($1)', [QUEUE_LOCK]);
    await runMigrations({ connectionString: url, logger: toQueueLogger(log), maxPoolSize: 1 });
  });
}

/** Returns a logger for graphile-worker. Its messages on single jobs are left out: the runner logs those itself, without their input. */
export function toQueueLogger(log: Log): Logger {
  return new Logger(() => (level, message, meta) => {
    if (meta?.['failure'] === true || meta?.['success'] === true) return;
    // An enum for TypeScript; graphile-worker exports its type alone.
    const name = level as string;
    if (name === 'error') log.error('job queue failed', { error: new Error(message) });
    else if (name === 'warning') log.warn('job queue', { error: new Error(message) });
  });
}

/** Records that a worker is alive. Returns the milliseconds since it did so before, by the clock of the database; undefined for the first time. */
export async function beat(query: Query, workerId: string): Promise<number | undefined> {
  const [before] = await query<{ ms: number }>(
    `WITH before AS (SELECT "seenAt" FROM "job_workers" WHERE "id" = $1),
      written AS (INSERT INTO "job_workers" ("id", "seenAt") VALUES ($1, now()) ON CONFLICT ("id") DO UPDATE SET "seenAt" = now())
    SELECT (extract(epoch FROM now() - "seenAt") * 1000)::float8 AS "ms" FROM before`,
    [workerId],
  );
  return before?.ms;
}

/**
 * Decides when a worker may judge whether others are dead: once it has sent as many signs of life in a row as make one dead when they are missing.
 * After a longer gap it begins again: when the database was away, or its clock has jumped, every worker seems not to be seen.
 */
export class SteadyBeats {
  readonly #needed: number;
  readonly #maxGapMs: number;
  #count = 0;

  /** `needed`: signs of life in a row. `maxGapMs`: the longest time between two of them. */
  constructor(needed: number, maxGapMs: number) {
    this.#needed = needed;
    this.#maxGapMs = maxGapMs;
  }

  /** Adds a sign of life, `gapMs` after the one before. Returns whether the worker may judge others. */
  add(gapMs: number | undefined): boolean {
    const isSteady = gapMs !== undefined && gapMs >= 0 && gapMs <= this.#maxGapMs;
    this.#count = isSteady ? this.#count + 1 : 0;
    return this.#count >= this.#needed;
  }
}

/** Forgets a worker that has stopped in order. */
export async function forgetWorker(query: Query, workerId: string): Promise<void> {
  await query('DELETE FROM "job_workers" WHERE "id" = $1', [workerId]);
}

/**
 * Unlocks the jobs of workers that were not seen for `staleMs`, so that others take them over; graphile-worker itself waits for 4 hours. A
 * worker that was only suspended finds its attempt replaced: what it then writes matches no row. Does nothing when the worker `ownId`, which judges, was
 * not seen either: the clock of the database has jumped after its sign of life. Returns how many workers there were.
 */
export async function releaseDeadWorkers(query: Query, ownId: string, staleMs: number): Promise<number> {
  const [released] = await query<{ count: number }>(
    `WITH stale AS (SELECT now() - $1::int * interval '1 millisecond' AS "time"),
      dead AS (
        SELECT DISTINCT q.locked_by AS "id" FROM graphile_worker.jobs q, stale
        WHERE q.locked_at < stale."time" AND NOT EXISTS (
          SELECT FROM "job_workers" w WHERE w."id" = q.locked_by AND w."seenAt" >= stale."time"
        ) AND EXISTS (SELECT FROM "job_workers" own WHERE own."id" = $2 AND own."seenAt" >= stale."time")
      ),
      unlocked AS (SELECT graphile_worker.force_unlock_workers((SELECT array_agg("id") FROM dead)) FROM dead LIMIT 1),
      forgotten AS (DELETE FROM "job_workers" w USING stale WHERE w."seenAt" < stale."time" - interval '1 hour')
    SELECT (SELECT count(*) FROM dead)::int AS "count" FROM (SELECT count(*) FROM unlocked) u`,
    [staleMs, ownId],
  );
  return released?.count ?? 0;
}

/** Returns the jobs whose last attempt ended with their worker: the queue does not start them again. */
export async function findExhausted(query: Query): Promise<string[]> {
  const rows = await query<{ id: string }>(
    `SELECT j."id" FROM "jobs" j JOIN graphile_worker.jobs q ON q.key = j."id"
     WHERE j."status" IN ('QUEUED', 'RUNNING') AND q.locked_at IS NULL AND q.attempts >= q.max_attempts LIMIT 100`,
  );
  return rows.map(({ id }) => id);
}

/** Deletes what the queue keeps of cancelled jobs whose worker has stopped. */
export async function deleteRemains(query: Query): Promise<void> {
  await query(
    `SELECT graphile_worker.complete_jobs(array_agg(q.id)) FROM graphile_worker.jobs q
     WHERE q.key IS NULL AND q.locked_at IS NULL AND q.attempts >= q.max_attempts`,
  );
}
