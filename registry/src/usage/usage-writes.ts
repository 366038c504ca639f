/** Adds reports to what is recorded. Each report is one transaction, and counts once whatever is sent again. */
import type { Database } from '@trestle/chassis/database/database';
import type { Query } from '@trestle/chassis/database/query';
import type { ReportedClient, ReportedOperation, UsageReport } from './usage-report.ts';

/** How many operations and clients an environment may have. What is beyond counts as one operation without text, and as one client. */
export interface UsageBounds {
  readonly operations: number;
  readonly clients: number;
}

/** The defaults. */
export const USAGE_BOUNDS: UsageBounds = { operations: 20_000, clients: 5000 };

/** The hash of operations, and the name of clients, that are beyond the bounds. */
export const OTHER = '(other)';

/** The result of recording a report. */
export interface Recorded {
  /** Whether it was recorded before. */
  readonly isDuplicate: boolean;
  /** Hashes of operations whose text the registry does not have. */
  readonly missing: readonly string[];
}

/** Records a report of an environment. */
export function recordUsage(
  { database, bounds = USAGE_BOUNDS }: { readonly database: Pick<Database, 'transact'>; readonly bounds?: UsageBounds },
  environment: string,
  report: UsageReport,
): Promise<Recorded> {
  const day = report.minute.toISOString().slice(0, 10);
  return database.transact(async (query) => {
    const isNew = await query('INSERT INTO "usage_reports" ("id", "day") VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING "id"', [
      report.id,
      day,
    ]);
    if (isNew.length === 0) return { isDuplicate: true, missing: [] };
    const place = { query, environment, minute: report.minute, bounds };
    const operations = await identifyOperations(place, report.operations);
    const clients = await identifyClients(place, report.clients);
    await addRows(place, { report, day, operations, clients });
    const missing = report.operations.flatMap(({ hash }) => (operations.get(hash)?.hasText === false ? [hash] : []));
    return { isDuplicate: false, missing };
  });
}

interface Place {
  readonly query: Query;
  readonly environment: string;
  readonly minute: Date;
  readonly bounds: UsageBounds;
}

interface KnownOperation {
  readonly id: string;
  readonly hash: string;
  readonly hasText: boolean;
}

/**
 * Returns the operations by hash. Those that were seen within the hour are read only, so that reports seldom wait for each other. Rows are written in the
 * order of their keys, so that two reports never wait for each other in a circle.
 */
async function identifyOperations(place: Place, operations: readonly ReportedOperation[]): Promise<Map<string, KnownOperation>> {
  const { query, environment, minute, bounds } = place;
  const sorted = [...operations].sort((left, right) => (left.hash < right.hash ? -1 : 1));
  const known = await query<KnownOperation & { readonly isRecent: boolean }>(
    `SELECT "id", "hash", "text" IS NOT NULL AS "hasText", "lastSeen" > $3::timestamptz - interval '1 hour' AS "isRecent"
     FROM "usage_operations" WHERE "environment" = $1 AND "hash" = ANY($2)`,
    [environment, sorted.map(({ hash }) => hash), minute],
  );
  const byHash = new Map<string, KnownOperation>(known.filter(({ isRecent }) => isRecent).map((each) => [each.hash, each]));
  const recorded = new Set(known.map(({ hash }) => hash));
  const room = bounds.operations - (await countOf(place, 'usage_operations'));
  const added = sorted.filter(({ hash }) => !recorded.has(hash)).slice(0, Math.max(0, room));
  const needed = new Set([...added.map(({ hash }) => hash), ...recorded]);
  const written = sorted.filter(({ hash, text }) => {
    const found = byHash.get(hash);
    return found ? !found.hasText && text !== undefined : needed.has(hash);
  });
  const beyond = sorted.some(({ hash }) => !needed.has(hash));
  for (const each of await upsertOperations(place, beyond ? [...written, { hash: OTHER, name: null }] : written))
    byHash.set(each.hash, each);
  const other = byHash.get(OTHER);
  if (other) for (const { hash } of sorted) if (!byHash.has(hash)) byHash.set(hash, { ...other, hasText: true });
  return byHash;
}

function upsertOperations({ query, environment, minute }: Place, operations: readonly ReportedOperation[]): Promise<KnownOperation[]> {
  if (operations.length === 0) return Promise.resolve([]);
  return query<KnownOperation>(
    `INSERT INTO "usage_operations" AS o ("environment", "hash", "name", "text", "uses", "firstSeen", "lastSeen")
     SELECT $1, g."hash", g."name", g."text", ARRAY(SELECT jsonb_array_elements_text(g."uses")), $3, $3
     FROM jsonb_to_recordset($2::jsonb) AS g("hash" text, "name" text, "text" text, "uses" jsonb)
     ON CONFLICT ("environment", "hash") DO UPDATE SET "lastSeen" = greatest(o."lastSeen", EXCLUDED."lastSeen"),
       "text" = coalesce(o."text", EXCLUDED."text"), "uses" = CASE WHEN o."text" IS NULL THEN EXCLUDED."uses" ELSE o."uses" END
     RETURNING "id", "hash", "text" IS NOT NULL AS "hasText"`,
    [environment, JSON.stringify(operations.map(({ hash, name, text = null, uses = [] }) => ({ hash, name, text, uses }))), minute],
  );
}

/** Returns the ids of clients by {@link keyOf}. */
async function identifyClients(place: Place, clients: readonly ReportedClient[]): Promise<Map<string, string>> {
  const { query, environment, minute, bounds } = place;
  const sorted = clients.map(({ name, version }) => ({ name: name ?? '', version: version ?? '' })).sort(compareClients);
  const known = await query<Row & { readonly isRecent: boolean }>(
    `SELECT c."id", c."name", c."version", c."lastSeen" > $4::timestamptz - interval '1 hour' AS "isRecent" FROM "usage_clients" c
     JOIN unnest($2::text[], $3::text[]) AS g("name", "version") ON g."name" = c."name" AND g."version" = c."version" WHERE c."environment" = $1`,
    [environment, sorted.map(({ name }) => name), sorted.map(({ version }) => version), minute],
  );
  const ids = new Map(known.filter(({ isRecent }) => isRecent).map(({ id, name, version }) => [keyOf({ name, version }), id]));
  const recorded = new Set(known.map(keyOf));
  const room = bounds.clients - (await countOf(place, 'usage_clients'));
  const added = sorted.filter((client) => !recorded.has(keyOf(client))).slice(0, Math.max(0, room));
  const needed = new Set([...added.map(keyOf), ...recorded]);
  const other = { name: OTHER, version: '' };
  const written = sorted.filter((client) => needed.has(keyOf(client)) && !ids.has(keyOf(client)));
  if (sorted.some((client) => !needed.has(keyOf(client))) && !needed.has(keyOf(other))) written.push(other);
  const rows = await upsertClients(place, written.sort(compareClients));
  for (const row of rows) ids.set(keyOf(row), row.id);
  const otherId = ids.get(keyOf(other));
  if (otherId !== undefined) for (const client of sorted) if (!ids.has(keyOf(client))) ids.set(keyOf(client), otherId);
  return ids;
}

interface Row {
  readonly id: string;
  readonly name: string;
  readonly version: string;
}

function upsertClients({ query, environment, minute }: Place, clients: readonly Omit<Row, 'id'>[]): Promise<Row[]> {
  if (clients.length === 0) return Promise.resolve([]);
  return query<Row>(
    `INSERT INTO "usage_clients" AS c ("environment", "name", "version", "lastSeen")
     SELECT $1, g."name", g."version", $4 FROM unnest($2::text[], $3::text[]) AS g("name", "version")
     ON CONFLICT ("environment", "name", "version") DO UPDATE SET "lastSeen" = greatest(c."lastSeen", EXCLUDED."lastSeen")
     RETURNING "id", "name", "version"`,
    [environment, clients.map(({ name }) => name), clients.map(({ version }) => version), minute],
  );
}

function keyOf({ name, version }: { readonly name: string | null; readonly version: string | null }): string {
  return `${name ?? ''}\n${version ?? ''}`;
}

function compareClients(left: Omit<Row, 'id'>, right: Omit<Row, 'id'>): number {
  return keyOf(left) < keyOf(right) ? -1 : 1;
}

async function countOf({ query, environment }: Place, table: 'usage_operations' | 'usage_clients'): Promise<number> {
  const [row] = await query<{ count: string }>(`SELECT count(*) AS "count" FROM "${table}" WHERE "environment" = $1`, [environment]);
  return Number(row?.count ?? 0);
}

interface Identified {
  readonly report: UsageReport;
  readonly day: string;
  readonly operations: ReadonlyMap<string, KnownOperation>;
  readonly clients: ReadonlyMap<string, string>;
}

/** Adds the rows up by operation and client: several rows may count for `OTHER`. */
async function addRows({ query, environment, minute }: Place, { report, day, operations, clients }: Identified): Promise<void> {
  const identified = report.rows.map(({ operation, client, count, errors, durations }): Sum => ({
    operation: operations.get(report.operations[operation]?.hash ?? '')?.id ?? '',
    client: clients.get(keyOf(report.clients[client] ?? { name: null, version: null })) ?? '',
    ...{ requests: count, errors, durations: [...durations] },
  }));
  const sums = addUp(identified, ({ operation, client }) => `${operation} ${client}`);
  const given = JSON.stringify(sums.map(({ operation, client, requests, errors }) => ({ operation, client, requests, errors })));
  const rows = `jsonb_to_recordset($2::jsonb) AS g("operation" bigint, "client" bigint, "requests" bigint, "errors" bigint)`;
  const added = `"requests" = t."requests" + EXCLUDED."requests", "errors" = t."errors" + EXCLUDED."errors"`;
  const seen = `"lastSeen" = greatest(t."lastSeen", EXCLUDED."lastSeen")`;
  await query(
    `INSERT INTO "usage_hours" AS t ("environment", "operationId", "clientId", "day", "hour", "requests", "errors")
     SELECT $1, g."operation", g."client", $3, $4, g."requests", g."errors" FROM ${rows} ORDER BY 2, 3
     ON CONFLICT ("environment", "operationId", "clientId", "day", "hour") DO UPDATE SET ${added}`,
    [environment, given, day, minute.getUTCHours()],
  );
  await query(
    `INSERT INTO "usage_days" AS t ("environment", "operationId", "clientId", "day", "requests", "errors", "lastSeen")
     SELECT $1, g."operation", g."client", $3, g."requests", g."errors", $4 FROM ${rows} ORDER BY 2, 3
     ON CONFLICT ("environment", "operationId", "clientId", "day") DO UPDATE SET ${added}, ${seen}`,
    [environment, given, day, minute],
  );
  await query(
    `INSERT INTO "usage_operation_days" AS t ("environment", "operationId", "day", "requests", "errors", "durations", "lastSeen")
     SELECT $1, g."operation", $3, g."requests", g."errors", ARRAY(SELECT jsonb_array_elements_text(g."durations")::bigint), $4
     FROM jsonb_to_recordset($2::jsonb) AS g("operation" bigint, "requests" bigint, "errors" bigint, "durations" jsonb) ORDER BY 2
     ON CONFLICT ("environment", "operationId", "day") DO UPDATE SET ${added}, "durations" = add_durations(t."durations", EXCLUDED."durations"), ${seen}`,
    [environment, JSON.stringify(addUp(sums, ({ operation }) => operation)), day, minute],
  );
  // The last statement: reports of one environment have mostly the same clients, whose rows stay locked until the commit.
  await query(
    `INSERT INTO "usage_client_days" AS t ("environment", "clientId", "day", "requests", "errors", "lastSeen")
     SELECT $1, g."client", $3, sum(g."requests"), sum(g."errors"), $4 FROM ${rows} GROUP BY g."client" ORDER BY 2
     ON CONFLICT ("environment", "clientId", "day") DO UPDATE SET ${added}, ${seen}`,
    [environment, given, day, minute],
  );
}

interface Sum {
  readonly operation: string;
  readonly client: string;
  requests: number;
  errors: number;
  readonly durations: number[];
}

/** Adds up what has the same key. */
function addUp(rows: readonly Sum[], keyOfRow: (row: Sum) => string): Sum[] {
  const sums = new Map<string, Sum>();
  for (const row of rows) {
    const key = keyOfRow(row);
    const sum = sums.get(key);
    if (sum) {
      sum.requests += row.requests;
      sum.errors += row.errors;
      for (const [i, each] of row.durations.entries()) sum.durations[i] = (sum.durations[i] ?? 0) + each;
    } else sums.set(key, { ...row, durations: [...row.durations] });
  }
  return [...sums.values()];
}
