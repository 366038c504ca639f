/** Creates indexes of tables that had rows when their migration came: within a migration, writes would wait for minutes. */
// cspell:ignore indisvalid
import type { Log } from '@trestle/log';
import pg from 'pg';

/** An index that replaces others. Its migration creates it at once when the table is empty. */
export interface LateIndex {
  readonly table: string;
  readonly name: string;
  /** The definition from `USING` on. */
  readonly definition: string;
  /** The indexes that are dropped once it is there. */
  readonly replaces: readonly string[];
}

/** What indexes are created with. */
export interface LateIndexOptions {
  /** The address of the database. An index needs a connection of its own, whose statements may take minutes. */
  readonly url: string;
  readonly indexes: readonly LateIndex[];
  readonly log: Log;
}

/** The key of the advisory lock: one process creates indexes at a time. */
const INDEX_LOCK = 72707382;

/**
 * Starts to create the indexes that are missing, while the tables are read and written; does nothing when another process does it. `done`
 * resolves when that has ended, also with a logged failure: the next process that starts tries again. `stop` leaves the index that is being
 * created to PostgreSQL, which completes it.
 */
export function createLateIndexes({ url, indexes, log }: LateIndexOptions): {
  readonly done: Promise<void>;
  readonly stop: () => Promise<void>;
} {
  const client = new pg.Client({ connectionString: url });
  let isStopped = false;
  const done = createAll(client, { indexes, log })
    .catch((error: unknown) => {
      if (!isStopped) log.error('an index could not be created; the next start of a process tries again', { error });
    })
    .finally(() => client.end().catch(() => undefined));
  return {
    done,
    async stop() {
      isStopped = true;
      await client.end().catch(() => undefined);
      await done;
    },
  };
}

async function createAll(client: pg.Client, { indexes, log }: Pick<LateIndexOptions, 'indexes' | 'log'>): Promise<void> {
  // A connection that breaks fails the statement in flight; without a listener it would also end the process.
  client.on('error', () => undefined);
  await client.connect();
  const [lock] = (await client.query<{ taken: boolean }>('SELECT pg_try_advisory_lock($1) AS "taken"', [INDEX_LOCK])).rows;
  if (!lock?.taken) return;
  for (const { table, name, definition, replaces } of indexes) {
    const { rows } = await client.query<{ isValid: boolean }>(
      'SELECT "indisvalid" AS "isValid" FROM pg_index WHERE "indexrelid" = to_regclass($1)',
      [`"${name}"`],
    );
    if (rows[0]?.isValid !== true) {
      // What a creation that was interrupted has left.
      await client.query(`DROP INDEX CONCURRENTLY IF EXISTS "${name}"`);
      await client.query(`CREATE INDEX CONCURRENTLY "${name}" ON "${table}" ${definition}`);
      log.info(`index ${name} created`);
    }
    for (const replaced of replaces) await client.query(`DROP INDEX CONCURRENTLY IF EXISTS "${replaced}"`);
  }
}
