/**
 * Jobs in PostgreSQL: the records that clients see (table `jobs`) and graphile-worker's queue (schema `graphile_worker`), which are always
 * changed together. A job that was acknowledged is in both, since one statement writes them, in the transaction of the request.
 */
import { type Sql, given, join, name, sql, type SqlClient } from '../database/sql.ts';
import type { Sorting } from '../paging/window.ts';
import { type RowStore, type StoreOptions, createRowStore } from '../stores/row-store.ts';
import { JOB_KINDS, type JobKind, createJobId } from './job-kinds.ts';
import type { Job, JobError, JobStatus, JobVisibility, JsonObject } from './job.ts';

/** All columns but the input, which is not for clients. */
const COLUMNS = [
  ...['id', 'kind', 'status', 'progress', 'result', 'errorCode', 'errorMessage', 'ownerId', 'subjectId', 'attempts'],
  ...['createdAt', 'updatedAt', 'version'],
] as const;
const RETURNING = join(COLUMNS.map(name), ', ');
const RETENTION_DAYS = 30;
const SWEEP_ROWS = 1000;

/** Jobs are sorted by id, which is the order of creation. */
export const JOB_SORTING: Sorting<'ID'> = {
  list: 'jobs',
  columns: { ID: { column: 'id', type: 'text' } },
  default: { field: 'ID', direction: 'DESC' },
};

/** A job to enqueue. */
export interface NewJob {
  readonly kind: JobKind;
  readonly input: JsonObject;
  readonly ownerId: string | null;
  readonly subjectId?: string;
}

/** An attempt at a job. */
export interface Attempt extends Job {
  readonly input: JsonObject;
}

/** The attempt that a write belongs to: once another worker has begun the next one, writes of the former match no row. */
export type AttemptKey = Pick<Attempt, 'id' | 'attempts'>;

/** Conditions on jobs. */
export interface JobFilter {
  readonly status?: JobStatus | null | undefined;
  readonly kind?: JobKind | null | undefined;
  readonly ownerId?: string | null | undefined;
  readonly subjectId?: string | null | undefined;
}

/** The jobs of a list: those that match the filter and that the caller may see. */
export interface JobScope {
  readonly filter: JobFilter;
  readonly visibility: JobVisibility;
}

/** Reads and writes jobs. Each write is one statement, and returns undefined when the job is not in the state that the write needs. */
export interface JobStore extends RowStore<Job, JobScope, 'ID'> {
  readonly enqueue: (job: NewJob) => Promise<Job>;
  /** Returns the jobs about a subject that have not ended. */
  readonly findOpen: (subjectId: string) => Promise<Job[]>;
  /** Begins the next attempt at a job that is queued, or whose worker has stopped. */
  readonly begin: (id: string) => Promise<Attempt | undefined>;
  readonly report: (attempt: AttemptKey, progress: number) => Promise<Job | undefined>;
  readonly succeed: (attempt: AttemptKey, result: JsonObject | null) => Promise<Job | undefined>;
  /** Ends an attempt. The job is queued for the next one; the queue decides when. */
  readonly postpone: (attempt: AttemptKey, error: JobError) => Promise<Job | undefined>;
  /** Ends the last attempt. */
  readonly fail: (attempt: AttemptKey, error: JobError) => Promise<Attempt | undefined>;
  readonly cancel: (id: string, versions: readonly number[] | null) => Promise<Attempt | undefined>;
  /** Queues a failed job again, with as many attempts as a new one. */
  readonly retry: (id: string, versions: readonly number[] | null) => Promise<Attempt | undefined>;
  /** Returns which of these attempts are still the last ones at running jobs. */
  readonly findCurrent: (attempts: readonly AttemptKey[]) => Promise<string[]>;
  /** Deletes records of jobs that ended 30 days ago. */
  readonly sweep: () => Promise<void>;
}

/** Creates the store on the client of the pool, or that of a transaction. */
export function createJobStore({ prisma, createId, clock }: StoreOptions<SqlClient>): JobStore {
  const rows = createRowStore<Job, JobScope, 'ID'>({ prisma, sorting: JOB_SORTING, rowsOf });
  const write = async <Row extends Job>(statement: Sql) => (await prisma.$queryRaw<Row[]>(statement))[0];
  const update = <Row extends Job = Job>(change: Sql, where: Sql, returning = RETURNING) =>
    write<Row>(sql`
      UPDATE "jobs" SET ${change}, "updatedAt" = ${clock()}::timestamptz, "version" = "version" + 1
      WHERE ${where} RETURNING ${returning}`);
  const all = sql`${RETURNING}, "input"`;

  return {
    ...rows,

    async enqueue({ kind, input, ownerId, subjectId = null }) {
      const now = clock();
      const job = await write<Job>(sql`
        WITH job AS (
          INSERT INTO "jobs" ("id", "kind", "input", "ownerId", "subjectId", "createdAt", "updatedAt")
          VALUES (${createJobId(kind, createId)}, ${kind}, ${JSON.stringify(input)}::jsonb, ${ownerId}, ${subjectId}, ${now}::timestamptz, ${now}::timestamptz)
          RETURNING ${RETURNING}
        ) ${selectQueued(sql`SELECT * FROM job`)}`);
      return job as Job;
    },

    begin: (id) =>
      update<Attempt>(
        sql`"status" = 'RUNNING', "progress" = 0, "attempts" = "attempts" + 1`,
        sql`"id" = ${id} AND "status" IN ('QUEUED', 'RUNNING')`,
        all,
      ),
    report: (attempt, progress) => update(sql`"progress" = ${progress}::int`, sql`${isCurrent(attempt)} AND "progress" < ${progress}::int`),
    succeed: (attempt, result) =>
      update(
        sql`"status" = 'SUCCEEDED', "progress" = 100, "result" = ${toJson(result)}::jsonb, "input" = '{}', "errorCode" = NULL, "errorMessage" = NULL`,
        isCurrent(attempt),
      ),
    postpone: (attempt, error) => update(sql`"status" = 'QUEUED', "progress" = 0, ${setError(error)}`, isCurrent(attempt)),
    fail: (attempt, error) => update<Attempt>(sql`"status" = 'FAILED', ${setError(error)}`, isCurrent(attempt), all),

    cancel: (id, versions) =>
      write<Attempt>(sql`
        WITH job AS (
          UPDATE "jobs" SET "status" = 'CANCELLED', "updatedAt" = ${clock()}::timestamptz, "version" = "version" + 1
          WHERE "id" = ${id} AND "status" IN ('QUEUED', 'RUNNING') AND ${hasVersion(versions)} RETURNING ${all}
        ) SELECT job.* FROM job LEFT JOIN LATERAL graphile_worker.remove_job(job."id") AS removed ON removed."id" IS NOT NULL`),

    retry: (id, versions) =>
      write<Attempt>(sql`
        WITH job AS (
          UPDATE "jobs" SET "status" = 'QUEUED', "progress" = 0, "updatedAt" = ${clock()}::timestamptz, "version" = "version" + 1
          WHERE "id" = ${id} AND "status" = 'FAILED' AND ${hasVersion(versions)} RETURNING ${all}
        ) ${selectQueued(sql`SELECT * FROM job`)}`),

    findOpen: async (subjectId) =>
      prisma.$queryRaw<Job[]>(
        sql`SELECT ${RETURNING} FROM "jobs" WHERE "subjectId" = ${subjectId} AND "status" IN ('QUEUED', 'RUNNING') ORDER BY "id" LIMIT 1`,
      ),
    findCurrent: (attempts) => findCurrent(prisma, attempts),
    sweep: () => sweep(prisma),
  };
}

async function findCurrent(prisma: SqlClient, attempts: readonly AttemptKey[]): Promise<string[]> {
  const ids = attempts.map(({ id }) => id);
  const numbers = attempts.map((attempt) => attempt.attempts);
  const current = await prisma.$queryRaw<{ id: string }[]>(sql`
    SELECT j."id" FROM "jobs" j JOIN unnest(${ids}::text[], ${numbers}::int[]) AS a("id", "attempts") USING ("id", "attempts")
    WHERE j."status" = 'RUNNING'`);
  return current.map(({ id }) => id);
}

async function sweep(prisma: SqlClient): Promise<void> {
  for (let deleted = SWEEP_ROWS; deleted === SWEEP_ROWS;)
    deleted = await prisma.$executeRaw(sql`
      DELETE FROM "jobs" WHERE "id" IN (
        SELECT "id" FROM "jobs" WHERE "status" IN ('SUCCEEDED', 'FAILED', 'CANCELLED')
          AND "updatedAt" < now() - make_interval(days => ${RETENTION_DAYS}::int)
        ORDER BY "updatedAt" LIMIT ${SWEEP_ROWS}::int FOR UPDATE SKIP LOCKED
      )`);
}

/** Returns the statement that adds the jobs of a query to the queue and returns them. The key makes a second addition replace the first. */
function selectQueued(jobs: Sql): Sql {
  const attempts = join(
    Object.entries(JOB_KINDS).map(([kind, { maxAttempts }]) => sql`WHEN ${kind} THEN ${maxAttempts}::int`),
    ' ',
  );
  return sql`SELECT j.* FROM (${jobs}) j JOIN LATERAL graphile_worker.add_job(
    j."kind", payload := json_build_object('id', j."id"), job_key := j."id", max_attempts := CASE j."kind" ${attempts} END
  ) AS added ON true`;
}

function isCurrent({ id, attempts }: AttemptKey): Sql {
  return sql`"id" = ${id} AND "status" = 'RUNNING' AND "attempts" = ${attempts}::int`;
}

function hasVersion(versions: readonly number[] | null): Sql {
  return versions ? sql`"version" = ANY(${[...versions]}::int[])` : sql`true`;
}

function setError({ code, message }: JobError): Sql {
  return sql`"errorCode" = ${code}, "errorMessage" = ${message}`;
}

function toJson(result: JsonObject | null): string | null {
  return result && JSON.stringify(result);
}

const INTERNAL_KINDS = Object.entries(JOB_KINDS).flatMap(([kind, { isInternal }]) => (isInternal ? [kind] : []));

function rowsOf({ filter, visibility }: JobScope) {
  const where = [
    ...(visibility === 'all'
      ? []
      : [sql`(t."ownerId" = ${visibility.ownerId} OR (t."ownerId" IS NULL AND t."kind" <> ALL(${INTERNAL_KINDS}::text[])))`]),
    ...given(filter.status, (status) => sql`t."status" = ${status}::"JobStatus"`),
    ...given(filter.kind, (kind) => sql`t."kind" = ${kind}`),
    ...given(filter.subjectId, (subjectId) => sql`t."subjectId" = ${subjectId}`),
    ...given(filter.ownerId, (ownerId) => sql`t."ownerId" = ${ownerId}`),
  ];
  return { table: 'jobs', columns: COLUMNS, where };
}
