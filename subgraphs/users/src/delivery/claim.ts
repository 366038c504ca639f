/** Claims deliveries that are due, for the time of a lease. */
import { type Sql, sql } from '@trestle/chassis/database/sql';
import type { EventRecord } from '../journal/rules.ts';
import type { UserClient } from '../user/store.ts';

/** A delivery to send now, and what its webhook signs with. */
export interface ClaimedDelivery {
  readonly id: string;
  readonly webhookId: string;
  readonly leaseId: string;
  readonly eventId: string;
  readonly event: EventRecord;
  /** The attempts so far, this one included. */
  readonly attempts: number;
  readonly url: string;
  readonly secret: Uint8Array;
  /** Null when it no longer signs. */
  readonly previousSecret: Uint8Array | null;
}

/** Which deliveries are claimed. */
export interface Claim {
  /** Webhooks that have enough requests in flight. */
  readonly busy: readonly string[];
  readonly perWebhook: number;
  readonly limit: number;
  /** True: claims deliveries of webhooks that have failed since their last success. False: claims those of all others. */
  readonly isFailing: boolean;
  readonly leaseMs: number;
}

/** Claims deliveries; again, as long as all that was due is cancelled. */
export async function claim(prisma: UserClient, options: Claim): Promise<ClaimedDelivery[]> {
  for (;;) {
    const due = await prisma.$queryRaw<ClaimedRow[]>(toClaim(options));
    const claimed = due.flatMap(toClaimed);
    if (claimed.length > 0 || due.length === 0) return claimed;
  }
}

/**
 * Claims deliveries that are due: at most `perWebhook` of each webhook, found by jumping from webhook to webhook in the index, so that one with a
 * long queue costs as much as any other. A claim is a lease: a delivery whose worker is killed becomes due again at its end. Its attempt counts.
 * A delivery that was inserted beside the change that forbids it is not seen by the trigger of that change, so it is cancelled here.
 */
function toClaim({ busy, perWebhook, limit, leaseMs, isFailing }: Claim): Sql {
  return sql`
    WITH RECURSIVE waiting("id") AS (
      (SELECT min("webhookId") FROM "webhook_deliveries" WHERE "status" = 'WAITING')
      UNION ALL
      SELECT (SELECT min(d."webhookId") FROM "webhook_deliveries" d WHERE d."status" = 'WAITING' AND d."webhookId" > w."id")
      FROM waiting w WHERE w."id" IS NOT NULL
    ), due AS (
      SELECT d."id", h."isEnabled" AND (d."kind" = 'PING'
        OR u."isActive" AND "may_learn"(d."audience", d."eventType", d."event"->>'ownerId', u."id", u."role"::text)) AS "isAllowed"
      FROM waiting w JOIN "webhooks" h ON h."id" = w."id" AND (h."failingSince" IS NOT NULL) = ${isFailing}
      JOIN "users" u ON u."id" = h."userId"
      CROSS JOIN LATERAL (
        SELECT "id", "nextAttemptAt", "kind", "audience", "eventType", "event" FROM "webhook_deliveries"
        WHERE "webhookId" = w."id" AND "status" = 'WAITING' AND "nextAttemptAt" <= clock_timestamp()
        ORDER BY "nextAttemptAt" LIMIT ${perWebhook}::int FOR UPDATE SKIP LOCKED
      ) d
      WHERE w."id" <> ALL(${[...busy]}::text[]) ORDER BY d."nextAttemptAt" LIMIT ${limit}::int
    )
    UPDATE "webhook_deliveries" d
    SET "status" = CASE WHEN due."isAllowed" THEN 'WAITING' ELSE 'CANCELLED' END,
      "nextAttemptAt" = CASE WHEN due."isAllowed" THEN clock_timestamp() + ${leaseMs}::int * interval '1 millisecond' END,
      "leaseId" = CASE WHEN due."isAllowed" THEN gen_random_uuid() END, "attempts" = d."attempts" + due."isAllowed"::int,
      "completedAt" = CASE WHEN NOT due."isAllowed" THEN clock_timestamp() END
    FROM due, "webhooks" w WHERE d."id" = due."id" AND w."id" = d."webhookId"
    RETURNING d."id", d."webhookId", d."leaseId"::text, d."eventId", d."event", d."attempts", w."url", w."secret",
      CASE WHEN w."previousSecretExpiresAt" > now() THEN w."previousSecret" END AS "previousSecret"`;
}

interface ClaimedRow extends Omit<ClaimedDelivery, 'event' | 'leaseId'> {
  /** Null for a delivery that was cancelled. */
  readonly leaseId: string | null;
  readonly event: Omit<EventRecord, 'time'> & { readonly time: string };
}

function toClaimed({ event, leaseId, ...row }: ClaimedRow): ClaimedDelivery[] {
  return leaseId === null ? [] : [{ ...row, leaseId, event: { ...event, time: new Date(event.time) } }];
}
