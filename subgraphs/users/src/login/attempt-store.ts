/** Counts of failed attempts in PostgreSQL, by its clock, so that all processes agree (ADR 20). */
import { sql } from '@trestle/chassis/database/sql';
import type { UserClient } from '../user/store.ts';
import type { AttemptLimit } from './attempt-limits.ts';

/** Counts attempts. Every method is one statement. */
export interface AttemptStore {
  /**
   * Counts an attempt as failed before it is checked, so that of concurrent attempts no more are checked than the limit allows. Returns
   * the delay that a failure causes, in seconds; undefined when attempts are refused now, and then has counted nothing.
   */
  count(key: Buffer, limit: AttemptLimit): Promise<number | undefined>;
  /** Returns the seconds until attempts are accepted again, at least 1. */
  secondsLeft(key: Buffer): Promise<number>;
  /** Takes one attempt back, with the delay that it caused: it did not fail. */
  release(key: Buffer): Promise<void>;
  /** Forgets all failures. */
  forget(key: Buffer): Promise<void>;
  /** Deletes what is forgotten, and the oldest rows beyond a million. */
  sweep(): Promise<void>;
}

/**
 * The time of the statement, not of the transaction, which may have waited for a lock. Columns have milliseconds: rounded up, the time
 * would lie in the future.
 */
const NOW = sql`date_trunc('milliseconds', clock_timestamp())`;
/** Beyond 2^20 seconds every delay is the longest one. */
const MAX_DOUBLINGS = 20;
const MAX_FAILURES = 1_000_000;
const MAX_ROWS = 1_000_000;
const SWEEP_ROWS = 1000;

/** Creates the store. */
export function createAttemptStore(prisma: Pick<UserClient, '$queryRaw' | '$executeRaw'>): AttemptStore {
  return {
    async count(key, { firstDelayed, firstDelaySeconds, longestDelaySeconds, memorySeconds }) {
      const expiry = sql`${NOW} + make_interval(secs => ${memorySeconds}::int)`;
      const doubled = sql`${firstDelaySeconds}::int * power(2, least(n."failures" - ${firstDelayed}::int, ${MAX_DOUBLINGS}::int))`;
      const [counted] = await prisma.$queryRaw<{ delaySeconds: number }[]>(sql`
        INSERT INTO "failed_attempts" AS f ("key", "failures", "blockedUntil", "expiresAt") VALUES (${key}, 1, ${NOW}, ${expiry})
        ON CONFLICT ("key") DO UPDATE SET ("failures", "blockedUntil", "expiresAt") = (
          SELECT n."failures", ${NOW} + make_interval(secs => CASE
            WHEN n."failures" < ${firstDelayed}::int THEN 0 ELSE least(${doubled}, ${longestDelaySeconds}::int) END), ${expiry}
          FROM (SELECT CASE WHEN f."expiresAt" > ${NOW} THEN least(f."failures" + 1, ${MAX_FAILURES}::int) ELSE 1 END AS "failures") n
        )
        WHERE f."blockedUntil" <= ${NOW}
        RETURNING greatest(0, ceil(extract(epoch FROM "blockedUntil" - ${NOW})))::int AS "delaySeconds"`);
      return counted?.delaySeconds;
    },

    async secondsLeft(key) {
      const [row] = await prisma.$queryRaw<{ seconds: number }[]>(sql`
        SELECT ceil(extract(epoch FROM "blockedUntil" - ${NOW}))::int AS "seconds" FROM "failed_attempts" WHERE "key" = ${key}`);
      return Math.max(1, row?.seconds ?? 1);
    },

    async release(key) {
      await prisma.$executeRaw(sql`
        UPDATE "failed_attempts" SET "failures" = greatest("failures" - 1, 0), "blockedUntil" = least("blockedUntil", ${NOW})
        WHERE "key" = ${key}`);
    },

    async forget(key) {
      await prisma.$executeRaw(sql`DELETE FROM "failed_attempts" WHERE "key" = ${key}`);
    },

    async sweep() {
      for (let deleted = SWEEP_ROWS; deleted === SWEEP_ROWS;)
        deleted = await prisma.$executeRaw(sql`
          DELETE FROM "failed_attempts" WHERE "key" IN (
            SELECT "key" FROM "failed_attempts" WHERE "expiresAt" <= now() ORDER BY "expiresAt" LIMIT ${SWEEP_ROWS}::int FOR UPDATE SKIP LOCKED
          )`);
      await prisma.$executeRaw(sql`
        DELETE FROM "failed_attempts" WHERE "expiresAt" < (
          SELECT "expiresAt" FROM "failed_attempts" ORDER BY "expiresAt" DESC OFFSET ${MAX_ROWS - 1}::int LIMIT 1
        )`);
    },
  };
}
