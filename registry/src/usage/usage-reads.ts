/** Reads what is recorded of clients. Each function is one statement, over the days of a window. */
import type { Query } from '@trestle/chassis/database/query';
import type { ClientUsage, FieldUsage, OperationUsage, UsageHour, UsageTotal } from './usage-records.ts';

/** The requests of an environment from a day on. */
export interface UsageWindow {
  readonly environment: string;
  /** The first day, as `2026-01-31`. */
  readonly from: string;
}

/** A page: so many items, from behind one. */
export interface UsagePage {
  readonly first: number;
  readonly after: string | null;
}

/** The statements of usage. */
export type UsageReads = ReturnType<typeof createUsageReads>;

/** The sums of each operation in the window; `$1` and `$2` are its environment and first day. */
const OPERATIONS = `t AS (SELECT "operationId" AS "id", sum("requests")::float8 AS "requests", sum("errors")::float8 AS "errors", max("lastSeen") AS "lastSeen"
  FROM "usage_operation_days" WHERE "environment" = $1 AND "day" >= $2 GROUP BY "operationId")`;

/** Creates the statements. */
export function createUsageReads(query: Query) {
  return {
    /** Returns the sums of an environment, since when it has any, and on how many days of the window. */
    readTotal: async ({ environment, from }: UsageWindow): Promise<UsageTotal> => {
      const [row] = await query<UsageTotal>(
        `SELECT coalesce(sum("requests") FILTER (WHERE "day" >= $2), 0)::float8 AS "requests",
           coalesce(sum("errors") FILTER (WHERE "day" >= $2), 0)::float8 AS "errors", min("day")::timestamp AT TIME ZONE 'UTC' AS "since",
           count(DISTINCT "day") FILTER (WHERE "day" >= $2)::int AS "recordedDays"
         FROM "usage_client_days" WHERE "environment" = $1`,
        [environment, from],
      );
      return row ?? { requests: 0, errors: 0, since: null, recordedDays: 0 };
    },

    ...createOperationReads(query),

    /** Returns clients, or those of one operation, those with the most requests first. */
    listClients: ({ environment, from }: UsageWindow, { operation, first, after }: UsagePage & { readonly operation: string | null }) =>
      query<ClientUsage>(
        `WITH t AS (SELECT "clientId" AS "id", sum("requests")::float8 AS "requests", sum("errors")::float8 AS "errors", max("lastSeen") AS "lastSeen"
           FROM ${operation === null ? '"usage_client_days"' : '"usage_days"'} WHERE "environment" = $1 AND "day" >= $2 AND ${
             operation === null
               ? '$3::text IS NULL'
               : '"operationId" = (SELECT "id" FROM "usage_operations" WHERE "environment" = $1 AND "hash" = $3)'
           } GROUP BY "clientId")
         SELECT c."id"::text AS "id", nullif(c."name", '') AS "name", nullif(c."version", '') AS "version", t."requests", t."errors", t."lastSeen"
         FROM t JOIN "usage_clients" c ON c."id" = t."id"
         WHERE $4::bigint IS NULL OR (t."requests", t."id") < (SELECT l."requests", l."id" FROM t l WHERE l."id" = $4)
         ORDER BY t."requests" DESC, t."id" DESC LIMIT $5`,
        [environment, from, operation, after, first],
      ),

    /** Returns coordinates in their order, or those of one type. */
    listFields: ({ environment, from }: UsageWindow, { type, first, after }: UsagePage & { readonly type: string | null }) =>
      query<FieldUsage>(
        `WITH ${OPERATIONS}, u AS (
           SELECT CASE WHEN "use" LIKE '<%' THEN substr("use", 2, length("use") - 2) ELSE "use" END COLLATE "C" AS "coordinate", t."requests", t."lastSeen"
           FROM t JOIN "usage_operations" o ON o."id" = t."id" CROSS JOIN unnest(o."uses") AS "use")
         SELECT "coordinate", sum("requests")::float8 AS "requests", count(*)::int AS "operations", max("lastSeen") AS "lastSeen" FROM u
         WHERE ($3::text IS NULL OR "coordinate" > $3 COLLATE "C") AND ($4::text IS NULL OR split_part("coordinate", '.', 1) = $4)
         GROUP BY "coordinate" ORDER BY "coordinate" LIMIT $5`,
        [environment, from, after, type, first],
      ),

    /** Returns the requests of one operation by hour, the oldest first. */
    listHours: ({ environment, from }: UsageWindow, operation: string) =>
      query<UsageHour>(
        `SELECT ("day"::timestamp + "hour" * interval '1 hour') AT TIME ZONE 'UTC' AS "hour", sum("requests")::float8 AS "requests",
           sum("errors")::float8 AS "errors" FROM "usage_hours" WHERE "environment" = $1 AND "day" >= $2 AND "operationId" =
           (SELECT "id" FROM "usage_operations" WHERE "environment" = $1 AND "hash" = $3) GROUP BY 1 ORDER BY 1`,
        [environment, from, operation],
      ),
  };
}

function createOperationReads(query: Query) {
  const columns = `o."hash", o."name", o."text", o."firstSeen", p."requests", p."errors", p."lastSeen", d."durations"`;
  // The durations of the operations of a page only.
  const durations = `LATERAL (SELECT array_agg(s."sum" ORDER BY s."i") AS "durations" FROM (
     SELECT v."i", sum(v."count")::float8 AS "sum" FROM "usage_operation_days" u CROSS JOIN unnest(u."durations") WITH ORDINALITY AS v("count", "i")
     WHERE u."environment" = $1 AND u."operationId" = p."id" AND u."day" >= $2 GROUP BY v."i") s) d`;
  return {
    /** Returns operations, or those that use a coordinate, those with the most requests first. */
    listOperations: ({ environment, from }: UsageWindow, { uses, first, after }: UsagePage & { readonly uses: readonly string[] | null }) =>
      query<OperationUsage>(
        `WITH ${OPERATIONS}, p AS (SELECT t.* FROM t JOIN "usage_operations" o ON o."id" = t."id"
           WHERE ($3::text IS NULL OR (t."requests", t."id") < (SELECT l."requests", l."id" FROM t l JOIN "usage_operations" a ON a."id" = l."id"
             WHERE a."hash" = $3)) AND ($4::text[] IS NULL OR o."uses" && $4)
           ORDER BY t."requests" DESC, t."id" DESC LIMIT $5)
         SELECT ${columns} FROM p JOIN "usage_operations" o ON o."id" = p."id" CROSS JOIN ${durations} ORDER BY p."requests" DESC, p."id" DESC`,
        [environment, from, after, uses, first],
      ),

    /** Returns one operation with its requests in the window. */
    findOperation: async ({ environment, from }: UsageWindow, hash: string) => {
      const [row] = await query<OperationUsage>(
        `WITH p AS (SELECT "operationId" AS "id", sum("requests")::float8 AS "requests", sum("errors")::float8 AS "errors", max("lastSeen") AS "lastSeen"
           FROM "usage_operation_days" WHERE "environment" = $1 AND "day" >= $2 AND "operationId" =
             (SELECT "id" FROM "usage_operations" WHERE "environment" = $1 AND "hash" = $3) GROUP BY "operationId")
         SELECT ${columns} FROM p JOIN "usage_operations" o ON o."id" = p."id" CROSS JOIN ${durations}`,
        [environment, from, hash],
      );
      return row;
    },

    /** Returns the texts of the operations with the most requests in the window, for a check. */
    listTexts: ({ environment, from }: UsageWindow, first: number) =>
      query<Pick<OperationUsage, 'hash' | 'name' | 'text'> & { readonly id: string }>(
        `WITH ${OPERATIONS} SELECT o."id"::text AS "id", o."hash", o."name", o."text" FROM t JOIN "usage_operations" o ON o."id" = t."id"
         ORDER BY t."requests" DESC LIMIT $3`,
        [environment, from, first],
      ),

    /** Returns the requests in the window by operation and client, at most so many. */
    listUsers: ({ environment, from }: UsageWindow, first: number) =>
      query<{
        readonly operation: string;
        readonly name: string;
        readonly version: string;
        readonly requests: number;
        readonly lastSeen: Date;
      }>(
        `SELECT t."operation"::text AS "operation", c."name", c."version", t."requests", t."lastSeen" FROM (
           SELECT "operationId" AS "operation", "clientId", sum("requests")::float8 AS "requests", max("lastSeen") AS "lastSeen" FROM "usage_days"
           WHERE "environment" = $1 AND "day" >= $2 GROUP BY 1, 2 LIMIT $3) t
         JOIN "usage_clients" c ON c."id" = t."clientId"`,
        [environment, from, first],
      ),
  };
}
