/** Deliveries of webhooks in PostgreSQL: a queue that several processes work on, and the log of what was sent. */
import { type Sql, given, sql } from '@trestle/chassis/database/sql';
import { type RowStore, createRowStore } from '@trestle/chassis/stores/row-store';
import { fail } from '@trestle/schema/errors';
import type { UserClient } from '../user/store.ts';
import { type Claim, type ClaimedDelivery, claim } from './claim.ts';
import { type AttemptResult, complete } from './complete.ts';
import type { Delivery, DeliveryStatus } from './rules.ts';

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
  /**
   * Claims deliveries that are due, and cancels those that must not be sent: their webhook was disabled, or their account deactivated or
   * given another role, while they were inserted.
   */
  readonly claim: (claim: Claim) => Promise<ClaimedDelivery[]>;
  /**
   * Writes the result of an attempt, unless the lease has passed to another process; also that of a delivery that was cancelled meanwhile,
   * which is then not tried again. Returns whether it was written.
   */
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
    claim: (options) => claim(prisma, options),
    complete: (delivery, result) => complete(prisma, { delivery, ...result }),
    async release({ id, leaseId }) {
      await prisma.$executeRaw(sql`
        UPDATE "webhook_deliveries" SET "nextAttemptAt" = clock_timestamp(), "leaseId" = NULL, "attempts" = "attempts" - 1
        WHERE "id" = ${id} AND "leaseId" = ${leaseId}::uuid AND "status" = 'WAITING'`);
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
