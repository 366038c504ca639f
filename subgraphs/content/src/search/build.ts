/** Builds a new search index beside the current one, then replaces the current one (ADR 28). */
import type { Query } from '@trestle/chassis/database/query';
import { toSqlClient } from '@trestle/chassis/database/sql';
import type { EventFeed } from '@trestle/chassis/events/feeds/domain-event';
import type { Log } from '@trestle/log';
import { withClient } from '@trestle/postgres/client';
import type { Accounts } from './accounts.ts';
import { LIVE, NEXT, createIndexStore } from './index-store.ts';
import type { Project } from './projection.ts';
import { CONSUMER, type Positions, replaceIndex } from './replace.ts';

/** What an index is built from. */
export interface BuildOptions {
  /** The address of the database. A build needs a connection of its own, whose statements may take minutes. */
  readonly url: string;
  readonly accounts: Accounts;
  readonly feeds: readonly EventFeed[];
  readonly project: Project;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** The key of the advisory lock of a build: one process builds at a time. */
export const BUILD_LOCK = 72707381;
const PAGE = 500;

/** How much memory the creation of indexes gets at least: the server's default of 64 MB is too little for a million documents. */
const INDEX_MEMORY_MB = 256;

/**
 * Builds the index and resolves with true; with false when another process does. Searches use the old index meanwhile, and events go on
 * being projected into it. Throws, and leaves the old index as it was, when the accounts or the events cannot be read, or when the signal is
 * aborted.
 */
export async function buildIndex(options: BuildOptions): Promise<boolean> {
  const { url, signal } = options;
  return withClient(url, async (client) => {
    // The statement in flight may be one that takes minutes.
    const stop = () => void client.end().catch(() => undefined);
    signal.addEventListener('abort', stop);
    const query: Query = async <Row extends object>(text: string, values: readonly unknown[] = []) =>
      (await client.query<Row>(text, [...values])).rows;
    return await build(query, options).finally(() => {
      signal.removeEventListener('abort', stop);
    });
  });
}

async function build(query: Query, options: BuildOptions): Promise<boolean> {
  const { log, feeds, signal } = options;
  const [lock] = await query<{ taken: boolean }>('SELECT pg_try_advisory_lock($1) AS "taken"', [BUILD_LOCK]);
  if (!lock?.taken) return false;
  log.info('building the search index');
  await configure(query);
  const [started] = await query<{ at: Date }>('SELECT clock_timestamp() AS "at"');
  await query('SELECT search_enable_corrections()');
  await createTables(query);
  // What is committed behind these positions is either read below or projected afterwards.
  const positions = await readPositions(query, feeds);
  const posts = await copyPosts(query, signal);
  const accounts = await copyAccounts(query, options);
  await query('SET synchronous_commit TO DEFAULT');
  await createIndexes(query);
  await replaceIndex({ ...options, query, positions, startedAt: started?.at });
  log.info('search index built', { count: posts + accounts });
  return true;
}

/** Configures the connection for a build. */
async function configure(query: Query): Promise<void> {
  // A crash of the server ends the build, so that nothing is lost by commits without a flush.
  await query('SET synchronous_commit = off');
  await query(
    `SELECT set_config('maintenance_work_mem', $1 || 'MB', false) WHERE pg_size_bytes(current_setting('maintenance_work_mem')) < pg_size_bytes($1 || 'MB')`,
    [String(INDEX_MEMORY_MB)],
  );
  // One processor is enough for a build: several for one index leave none to searches, and a small machine has no more.
  await query('SET max_parallel_maintenance_workers = 0');
  // A statement ends soon after its process, and with it the lock of the build. Not every platform has this setting.
  await query(`SET client_connection_check_interval = '1s'`).catch(() => undefined);
}

async function createTables(query: Query): Promise<void> {
  for (const table of ['documents', 'words'] as const) {
    await query(`DROP TABLE IF EXISTS "${NEXT[table]}"`);
    const like = `LIKE "${LIVE[table]}" INCLUDING CONSTRAINTS INCLUDING GENERATED INCLUDING DEFAULTS`;
    await query(`CREATE TABLE "${NEXT[table]}" (${like}, PRIMARY KEY ("${table === 'documents' ? 'id' : 'word'}"))`);
  }
}

async function readPositions(query: Query, feeds: readonly EventFeed[]): Promise<Positions> {
  const rows = await query<{ source: string; position: string | null }>(
    'SELECT "source", "position" FROM "feed_positions" WHERE "consumer" = $1',
    [CONSUMER],
  );
  const stored = new Map(rows.map(({ source, position }) => [source, position ?? undefined]));
  return new Map(feeds.map(({ source }) => [source, stored.get(source)]));
}

/** Copies the published posts with their comments. Resolves with the number of posts. */
async function copyPosts(query: Query, signal: AbortSignal): Promise<number> {
  const index = createIndexStore(toSqlClient(query), NEXT);
  let count = 0;
  for (let after = ''; ;) {
    signal.throwIfAborted();
    const rows = await query<{ id: string }>(
      `SELECT "id" FROM "posts" WHERE "status" = 'PUBLISHED' AND "id" > $1 ORDER BY "id" LIMIT ${String(PAGE)}`,
      [after],
    );
    if (rows.length === 0) return count;
    await index.copyPosts(rows.map(({ id }) => id));
    count += rows.length;
    after = rows.at(-1)?.id ?? '';
  }
}

async function copyAccounts(query: Query, { accounts, signal }: Pick<BuildOptions, 'accounts' | 'signal'>): Promise<number> {
  const index = createIndexStore(toSqlClient(query), NEXT);
  let count = 0;
  for (let after: string | undefined, more = true; more;) {
    signal.throwIfAborted();
    const page = await accounts.listActive(after);
    await index.writeAccounts(
      page.accounts.map(({ id }) => id),
      page.accounts,
    );
    count += page.accounts.length;
    after = page.next;
    more = after !== undefined;
  }
  return count;
}

/**
 * Creates the indexes of the live tables on the new ones: after the rows, because that is many times faster. The words have one index that
 * also has the keys, in place of those that the live table may have from before (ADR 28).
 */
async function createIndexes(query: Query): Promise<void> {
  for (const table of ['documents', 'words'] as const) {
    const indexes = await query<{ definition: string }>(
      `SELECT pg_get_indexdef(i."indexrelid") AS "definition" FROM pg_index i WHERE i."indrelid" = $1::regclass AND NOT i."indisprimary"`,
      [`"${LIVE[table]}"`],
    );
    const others = indexes.map(({ definition }) => definition.slice(definition.indexOf('USING '))).filter((each) => !OF_WORDS.test(each));
    for (const definition of table === 'documents' ? [WITH_KEYS, ...others] : others)
      await query(`CREATE INDEX ON "${NEXT[table]}" ${definition}`);
    // Also marks the rows as visible to all. Otherwise searches that need only an index would read the rows as well.
    await query(`VACUUM (ANALYZE) "${NEXT[table]}"`);
  }
}

const WITH_KEYS = 'USING gin ("words", "titleWords", search_keys("words", "createdAt")) WITH (gin_pending_list_limit = 64)';
const OF_WORDS = /^USING gin \((words|"titleWords")/;
