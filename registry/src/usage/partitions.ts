/** The partitions of the tables of usage: one for each day, created ahead and dropped after the retention. */
import type { Database } from '@trestle/chassis/database/database';
import type { Query } from '@trestle/chassis/database/query';
import type { Log } from '@trestle/log';

/** A lock that no environment has: its space is not that of the environments' locks. */
const LOCK = [4005_1, 1];
const TABLES = ['usage_reports', 'usage_hours', 'usage_days', 'usage_operation_days', 'usage_client_days'] as const;
const DAY_MS = 86_400_000;
/** Reports may be a day old, and processes may have been stopped for a day. */
const DAYS_BEFORE = 1;
const DAYS_AHEAD = 2;
/** Ids of reports older than those that are accepted. */
const REPORT_DAYS = 3;
const INTERVAL_MS = 10 * 60_000;
const MAX_DELETED = 10_000;
/** A reader of a partition makes this attempt fail, not other readers wait. */
const LOCK_TIMEOUT_MS = 2000;

export interface PartitionOptions {
  readonly database: Pick<Database, 'transact'>;
  /** How many days usage is kept. */
  readonly retentionDays: number;
  readonly now: () => number;
}

/**
 * Creates the partitions that are needed soon, and drops what is older than the retention, also by the clock of the database: a process whose clock is
 * ahead must not drop what others read. Processes take turns.
 */
export async function maintainPartitions({ database, retentionDays, now }: PartitionOptions): Promise<void> {
  const today = Math.floor(now() / DAY_MS);
  await database.transact(async (query) => {
    await query('SELECT pg_advisory_xact_lock($1, $2)', LOCK);
    const [clock] = await query<{ day: number }>(`SELECT floor(extract(epoch FROM now()) / 86400)::int AS "day"`);
    const oldestToday = Math.min(today, clock?.day ?? today);
    await query(`SET LOCAL lock_timeout = ${String(LOCK_TIMEOUT_MS)}`);
    for (const table of TABLES) {
      const existing = new Set(await listPartitions(query, table));
      const days = Array.from({ length: DAYS_BEFORE + 1 + DAYS_AHEAD }, (_, i) => today - DAYS_BEFORE + i);
      for (const day of days) if (!existing.has(nameOf(table, day))) await create(query, table, day);
      const oldest = nameOf(table, oldestToday - (table === 'usage_reports' ? Math.min(REPORT_DAYS, retentionDays) : retentionDays));
      for (const name of existing) if (name < oldest) await query(`DROP TABLE "${name}"`);
    }
    const before = new Date((oldestToday - retentionDays) * DAY_MS);
    for (const table of ['usage_operations', 'usage_clients'])
      await query(
        `DELETE FROM "${table}" WHERE "id" IN (SELECT "id" FROM "${table}" WHERE "lastSeen" < $1 LIMIT ${String(MAX_DELETED)}) AND "lastSeen" < $1`,
        [before],
      );
  });
}

/** Creates a partition beside the table and then attaches it, which lets readers and writers of the table go on. */
async function create(query: Query, table: string, day: number): Promise<void> {
  const name = nameOf(table, day);
  await query(`CREATE TABLE "${name}" (LIKE "${table}" INCLUDING ALL)`);
  await query(`ALTER TABLE "${table}" ATTACH PARTITION "${name}" FOR VALUES FROM ('${toDate(day)}') TO ('${toDate(day + 1)}')`);
}

async function listPartitions(query: Query, table: string): Promise<string[]> {
  const rows = await query<{ name: string }>(
    `SELECT c.relname AS "name" FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = to_regclass($1)`,
    [`"${table}"`],
  );
  return rows.map(({ name }) => name);
}

/** The names of a table's partitions have the order of their days. */
function nameOf(table: string, day: number): string {
  return `${table}_${toDate(day).replaceAll('-', '')}`;
}

function toDate(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}

/** Maintains the partitions every ten minutes. Returns the function that ends it. */
export function watchPartitions(options: PartitionOptions, log: Pick<Log, 'error'>): () => void {
  const timer = setInterval(() => {
    maintainPartitions(options).catch((error: unknown) => {
      log.error('the partitions of usage cannot be maintained; the next attempt is in ten minutes', { error });
    });
  }, INTERVAL_MS).unref();
  return () => {
    clearInterval(timer);
  };
}
