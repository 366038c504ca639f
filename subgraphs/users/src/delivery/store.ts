/** Deliveries of webhooks in PostgreSQL: a queue that several processes work on, and the log of what was sent. */
import { type Sql, given, sql } from '@trestle/chassis/database/sql';
import { type RowStore, createRowStore } from '@trestle/chassis/stores/row-store';
import { fail } from '@trestle/schema/errors';
import type { EventRecord } from '../journal/rules.ts';
import type { UserClient } from '../user/store.ts';
import type { Attempt, Delivery, DeliveryStatus, Outcome } from './rules.ts';

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

/** The result of an attempt. */
export interface AttemptResult {
  readonly attempt: Attempt;
  readonly outcome: Outcome;
  /** For how long a webhook may fail before it is disabled. */
  readonly disableAfterHours: number;
}

/** The deliveries of a list. */
export interface DeliveryScope {
  readonly webhookId: string;
  readonly status?: DeliveryStatus | null | undefined;
  readonly eventId?: string | null | undefined;
  readonly eventType?: string | null | undefined;
}

/** Which events are sent again. */
export interface Replay {
  readonly webhookId: string;
  readonly since: Date;
  readonly types: readonly string[] | null;
  readonly limit: number;
}

/** The result of a replay. */
export interface ReplayResult {
  readonly count: number;
  readonly until: Date | null;
  readonly isComplete: boolean;
}

/** Reads and writes deliveries. */
export interface DeliveryStore extends Pick<RowStore<Delivery, DeliveryScope, 'CREATED_AT'>, 'connection' | 'findByIds'> {
  readonly claim: (claim: Claim) => Promise<ClaimedDelivery[]>;
  /** Writes the result of an attempt, unless the lease has passed to another process. Returns whether it was written. */
  readonly complete: (delivery: ClaimedDelivery, result: AttemptResult) => Promise<boolean>;
  /** Releases a delivery that was claimed and not sent. */
  readonly release: (delivery: ClaimedDelivery) => Promise<void>;
  /** Sends the event of a delivery again. Returns undefined when there is no such delivery of the webhook. */
  readonly replay: (webhookId: string, deliveryId: string) => Promise<Delivery | undefined>;
  readonly replaySince: (replay: Replay) => Promise<ReplayResult>;
  readonly ping: (webhookId: string) => Promise<Delivery>;
  /** Deletes deliveries that ended 7 days ago, in batches. */
  readonly sweep: () => Promise<void>;
}

const KEPT_DAYS = 7;
const SWEEP_ROWS = 1000;
/** Pings and replays beyond this number of waiting deliveries are refused. Deliveries of events are bounded by the disabling of the webhook. */
const MAX_WAITING = 10_000;
const COLUMNS = [
  ...['id', 'webhookId', 'kind', 'status', 'eventId', 'eventType', 'attempts', 'log', 'nextAttemptAt', 'createdAt', 'completedAt'],
];
const RETURNED = sql`"id", "webhookId", "kind", "status", "eventId", "eventType", "attempts", "log", "nextAttemptAt", "createdAt", "completedAt"`;

/** Creates the store. */
export function createDeliveryStore(prisma: UserClient): DeliveryStore {
  const { connection, findByIds } = createRowStore<Delivery, DeliveryScope, 'CREATED_AT'>({
    prisma,
    sorting: {
      list: 'deliveries',
      columns: { CREATED_AT: { column: 'createdAt', type: 'timestamptz' } },
      default: { field: 'CREATED_AT', direction: 'DESC' },
    },
    rowsOf: ({ webhookId, status, eventId, eventType }) => ({
      table: 'webhook_deliveries',
      columns: COLUMNS,
      where: [
        sql`t."webhookId" = ${webhookId}`,
        ...given(status, (value) => sql`t."status" = ${value}`),
        ...given(eventId, (value) => sql`t."eventId" = ${value}`),
        ...given(eventType, (value) => sql`t."eventType" = ${value}`),
      ],
    }),
  });
  return {
    connection,
    findByIds,
    claim: async (claim) => (await prisma.$queryRaw<ClaimedRow[]>(toClaim(claim))).map(toClaimed),
    complete: (delivery, result) => complete(prisma, { delivery, ...result }),
    async release({ id, leaseId }) {
      await prisma.$executeRaw(sql`
        UPDATE "webhook_deliveries" SET "nextAttemptAt" = clock_timestamp(), "leaseId" = NULL, "attempts" = "attempts" - 1
        WHERE "id" = ${id} AND "leaseId" = ${leaseId}::uuid`);
    },
    async replay(webhookId, deliveryId) {
      await requireRoom(prisma, webhookId);
      const [created] = await prisma.$queryRaw<Delivery[]>(sql`
        INSERT INTO "webhook_deliveries" ("id", "webhookId", "kind", "eventId", "eventType", "audience", "event", "nextAttemptAt")
        SELECT "create_id"('dlv'), d."webhookId", CASE d."kind" WHEN 'PING' THEN 'PING' ELSE 'REPLAY' END, d."eventId", d."eventType",
          d."audience", d."event", clock_timestamp()
        FROM "webhook_deliveries" d JOIN "webhooks" w ON w."id" = d."webhookId" JOIN "users" u ON u."id" = w."userId"
        WHERE d."id" = ${deliveryId} AND d."webhookId" = ${webhookId}
          AND "may_learn"(d."audience", d."eventType", d."event"->>'ownerId', u."id", u."role"::text)
        RETURNING ${RETURNED}`);
      return created;
    },
    replaySince: (replay) => replaySince(prisma, replay),
    async ping(webhookId) {
      await requireRoom(prisma, webhookId);
      const [created] = await prisma.$queryRaw<Delivery[]>(toPing(webhookId));
      return created as Delivery;
    },
    async sweep() {
      for (let deleted = SWEEP_ROWS; deleted === SWEEP_ROWS;)
        deleted = await prisma.$executeRaw(sql`
          DELETE FROM "webhook_deliveries" WHERE "id" IN (
            SELECT "id" FROM "webhook_deliveries"
            WHERE "status" <> 'WAITING' AND "completedAt" < now() - make_interval(days => ${KEPT_DAYS}::int)
            ORDER BY "completedAt" LIMIT ${SWEEP_ROWS}::int FOR UPDATE SKIP LOCKED)`);
    },
  };
}

/**
 * Claims deliveries that are due: at most `perWebhook` of each webhook, found by jumping from webhook to webhook in the index, so that one with a
 * long queue costs as much as any other. A claim is a lease: a delivery whose worker is killed becomes due again at its end. Its attempt counts.
 */
function toClaim({ busy, perWebhook, limit, leaseMs, isFailing }: Claim): Sql {
  return sql`
    WITH RECURSIVE waiting("id") AS (
      (SELECT min("webhookId") FROM "webhook_deliveries" WHERE "status" = 'WAITING')
      UNION ALL
      SELECT (SELECT min(d."webhookId") FROM "webhook_deliveries" d WHERE d."status" = 'WAITING' AND d."webhookId" > w."id")
      FROM waiting w WHERE w."id" IS NOT NULL
    ), due AS (
      SELECT d."id" FROM waiting w JOIN "webhooks" h ON h."id" = w."id" AND (h."failingSince" IS NOT NULL) = ${isFailing}
      CROSS JOIN LATERAL (
        SELECT "id", "nextAttemptAt" FROM "webhook_deliveries"
        WHERE "webhookId" = w."id" AND "status" = 'WAITING' AND "nextAttemptAt" <= clock_timestamp()
        ORDER BY "nextAttemptAt" LIMIT ${perWebhook}::int FOR UPDATE SKIP LOCKED
      ) d
      WHERE w."id" <> ALL(${[...busy]}::text[]) ORDER BY d."nextAttemptAt" LIMIT ${limit}::int
    )
    UPDATE "webhook_deliveries" d
    SET "nextAttemptAt" = clock_timestamp() + ${leaseMs}::int * interval '1 millisecond', "leaseId" = gen_random_uuid(), "attempts" = d."attempts" + 1
    FROM due, "webhooks" w WHERE d."id" = due."id" AND w."id" = d."webhookId"
    RETURNING d."id", d."webhookId", d."leaseId"::text, d."eventId", d."event", d."attempts", w."url", w."secret",
      CASE WHEN w."previousSecretExpiresAt" > now() THEN w."previousSecret" END AS "previousSecret"`;
}

type ClaimedRow = Omit<ClaimedDelivery, 'event'> & { readonly event: Omit<EventRecord, 'time'> & { readonly time: string } };

function toClaimed({ event, ...row }: ClaimedRow): ClaimedDelivery {
  return { ...row, event: { ...event, time: new Date(event.time) } };
}

interface Completion extends AttemptResult {
  readonly delivery: ClaimedDelivery;
}

const STATUSES = { succeeded: 'SUCCEEDED', gone: 'FAILED', failed: 'FAILED', retry: 'WAITING' } as const satisfies Record<
  Outcome['kind'],
  DeliveryStatus
>;

/** One statement: the delivery, and what the result means for its webhook. */
async function complete(prisma: UserClient, { delivery, attempt, outcome, disableAfterHours }: Completion): Promise<boolean> {
  const status = STATUSES[outcome.kind];
  const delayMs = outcome.kind === 'retry' ? outcome.delayMs : null;
  const next =
    delayMs === null
      ? sql`"nextAttemptAt" = NULL, "completedAt" = clock_timestamp()`
      : sql`"nextAttemptAt" = clock_timestamp() + ${delayMs}::int * interval '1 millisecond'`;
  const [written] = await prisma.$queryRaw<{ id: string }[]>(sql`
    WITH written AS (
      UPDATE "webhook_deliveries" SET "status" = ${status}, "leaseId" = NULL, "log" = "log" || ${JSON.stringify([attempt])}::jsonb, ${next}
      WHERE "id" = ${delivery.id} AND "leaseId" = ${delivery.leaseId}::uuid RETURNING "id", "webhookId"
    ), noted AS (${toNote(outcome, disableAfterHours)})
    SELECT "id" FROM written`);
  return written !== undefined;
}

/** Returns what the result of an attempt means for its webhook: one that answers 410, or has failed for days, is disabled. */
function toNote({ kind }: Outcome, disableAfterHours: number): Sql {
  if (kind === 'succeeded')
    return sql`UPDATE "webhooks" w SET "failingSince" = NULL FROM written WHERE w."id" = written."webhookId" AND w."failingSince" IS NOT NULL`;
  const isDown =
    kind === 'gone' ? sql`true` : sql`coalesce(w."failingSince" < now() - make_interval(hours => ${disableAfterHours}::int), false)`;
  return sql`
    UPDATE "webhooks" w SET "failingSince" = coalesce(w."failingSince", clock_timestamp()), "isEnabled" = NOT ${isDown},
      "disabledReason" = CASE WHEN ${isDown} THEN ${kind === 'gone' ? 'GONE' : 'FAILURES'} END,
      "version" = w."version" + (${isDown})::int, "updatedAt" = CASE WHEN ${isDown} THEN now() ELSE w."updatedAt" END
    FROM written WHERE w."id" = written."webhookId" AND w."isEnabled" AND (w."failingSince" IS NULL OR ${isDown})`;
}

/** The event of a ping concerns its webhook only, so it is not in the journal. */
function toPing(webhookId: string): Sql {
  return sql`
    INSERT INTO "webhook_deliveries" ("id", "webhookId", "kind", "eventId", "eventType", "audience", "event", "nextAttemptAt")
    SELECT "create_id"('dlv'), w."id", 'PING', e."id", 'webhook.ping', 'OWNER', jsonb_build_object('id', e."id", 'type', 'webhook.ping',
      'source', 'users', 'subject', w."id", 'ownerId', w."userId", 'audience', 'OWNER', 'data', '{}'::jsonb, 'time', clock_timestamp()),
      clock_timestamp()
    FROM "webhooks" w, (SELECT "create_id"('evt') AS "id") e WHERE w."id" = ${webhookId}
    RETURNING ${RETURNED}`;
}

async function replaySince(prisma: UserClient, { webhookId, since, types, limit }: Replay): Promise<ReplayResult> {
  await requireRoom(prisma, webhookId);
  const [result] = await prisma.$queryRaw<{ count: number; found: number; until: Date | null }[]>(sql`
    WITH found AS (
      SELECT j.* FROM "webhooks" w JOIN "users" u ON u."id" = w."userId"
      JOIN "journal" j ON j."time" >= ${since}::timestamptz AND j."recordedAt" >= ${since}::timestamptz - interval '1 hour'
        AND w."types" && "type_patterns"(j."type") AND "may_learn"(j."audience", j."type", j."ownerId", u."id", u."role"::text)
        ${types === null ? sql`` : sql`AND "type_patterns"(j."type") && ${[...types]}::text[]`}
      WHERE w."id" = ${webhookId} ORDER BY j."time", j."position" LIMIT ${limit + 1}::int
    ), chosen AS (SELECT * FROM found ORDER BY "time", "position" LIMIT ${limit}::int), written AS (
      INSERT INTO "webhook_deliveries" ("id", "webhookId", "kind", "eventId", "eventType", "audience", "event", "nextAttemptAt")
      SELECT "create_id"('dlv'), ${webhookId}, 'REPLAY', c."id", c."type", c."audience", jsonb_build_object('id', c."id", 'type', c."type",
        'source', c."source", 'subject', c."subject", 'ownerId', c."ownerId", 'audience', c."audience", 'data', c."data", 'time', c."time"),
        clock_timestamp()
      FROM chosen c ORDER BY c."time", c."position" RETURNING 1
    )
    SELECT (SELECT count(*)::int FROM written) AS "count", (SELECT count(*)::int FROM found) AS "found",
      (SELECT max("time") FROM chosen) AS "until"`);
  const { count = 0, found = 0, until = null } = result ?? {};
  return { count, until, isComplete: found <= limit };
}

/** Throws BUSINESS_RULE_VIOLATION when many deliveries of the webhook wait already. */
async function requireRoom(prisma: UserClient, webhookId: string): Promise<void> {
  const waiting = await prisma.$queryRaw<unknown[]>(sql`
    SELECT FROM "webhook_deliveries" WHERE "webhookId" = ${webhookId} AND "status" = 'WAITING' OFFSET ${MAX_WAITING}::int LIMIT 1`);
  if (waiting.length > 0)
    throw fail(
      'BUSINESS_RULE_VIOLATION',
      `More than ${String(MAX_WAITING)} deliveries of webhook ${webhookId} wait. Retry when they have ended.`,
    );
}
