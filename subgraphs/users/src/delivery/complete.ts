/** Writes the results of attempts, and what they mean for their webhooks. */
import { type Sql, sql } from '@trestle/chassis/database/sql';
import type { UserClient } from '../user/store.ts';
import type { ClaimedDelivery } from './claim.ts';
import type { Attempt, DeliveryStatus, Outcome } from './rules.ts';

/** The result of an attempt. */
export interface AttemptResult {
  readonly attempt: Attempt;
  readonly outcome: Outcome;
  /** For how long a webhook may fail before it is disabled. */
  readonly disableAfterHours: number;
}

/** The result of an attempt of a delivery. */
export interface Completion extends AttemptResult {
  readonly delivery: ClaimedDelivery;
}

const STATUSES = { succeeded: 'SUCCEEDED', gone: 'FAILED', failed: 'FAILED' } as const satisfies Partial<
  Record<Outcome['kind'], DeliveryStatus>
>;

/**
 * One statement: the delivery, and what the result means for its webhook, unless that has another address by now. The webhook is locked first where
 * it changes, as in the statement of an owner who disables it, whose trigger cancels its deliveries: in the other order the two could wait for each
 * other.
 */
export async function complete(prisma: UserClient, { delivery, attempt, outcome, disableAfterHours }: Completion): Promise<boolean> {
  const { condition, changes } = toNote(outcome, disableAfterHours);
  const [written] = await prisma.$queryRaw<{ id: string }[]>(sql`
    WITH held AS MATERIALIZED (
      SELECT w."id" FROM "webhooks" w WHERE w."id" = ${delivery.webhookId} AND w."url" = ${delivery.url} AND ${condition} FOR NO KEY UPDATE
    ), written AS (
      UPDATE "webhook_deliveries" SET "log" = "log" || ${JSON.stringify([attempt])}::jsonb, "leaseId" = NULL, ${toEnd(outcome)}
      WHERE "id" = ${delivery.id} AND "leaseId" = ${delivery.leaseId}::uuid AND (SELECT count(*) FROM held) >= 0 RETURNING "id"
    ), noted AS (UPDATE "webhooks" w SET ${changes} FROM held, written WHERE w."id" = held."id")
    SELECT "id" FROM written`);
  return written !== undefined;
}

/** Returns the state of a delivery after an attempt. One that was cancelled meanwhile is not tried again. */
function toEnd(outcome: Outcome): Sql {
  const { kind } = outcome;
  if (kind !== 'retry') return sql`"status" = ${STATUSES[kind]}, "nextAttemptAt" = NULL, "completedAt" = clock_timestamp()`;
  return sql`"nextAttemptAt" = CASE WHEN "status" = 'WAITING' THEN clock_timestamp() + ${outcome.delayMs}::int * interval '1 millisecond' END`;
}

/** What the result of an attempt means for the webhook `w`. */
interface Note {
  /** Whether it changes the webhook. */
  readonly condition: Sql;
  readonly changes: Sql;
}

/**
 * Returns what the result of an attempt means for its webhook: one that answers 410 is disabled, and one that has failed for days when a delivery
 * fails for good. A first attempt after the clock of the database has jumped ahead does not disable it.
 */
function toNote({ kind }: Outcome, disableAfterHours: number): Note {
  if (kind === 'succeeded') return { condition: sql`w."failingSince" IS NOT NULL`, changes: sql`"failingSince" = NULL` };
  const isLong = sql`coalesce(w."failingSince" < now() - make_interval(hours => ${disableAfterHours}::int), false)`;
  const isDown = { gone: sql`true`, failed: isLong, retry: sql`false` }[kind];
  return {
    condition: sql`w."isEnabled" AND (w."failingSince" IS NULL OR ${isDown})`,
    changes: sql`"failingSince" = coalesce(w."failingSince", clock_timestamp()), "isEnabled" = NOT ${isDown},
      "disabledReason" = CASE WHEN ${isDown} THEN ${kind === 'gone' ? 'GONE' : 'FAILURES'} END,
      "version" = w."version" + (${isDown})::int, "updatedAt" = CASE WHEN ${isDown} THEN now() ELSE w."updatedAt" END`,
  };
}
