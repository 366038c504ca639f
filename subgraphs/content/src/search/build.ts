/** Builds the search index anew beside the one that is searched, and then puts it in its place (ADR 28). */
import type { Query } from '@trestle/chassis/database/query';
import { toSqlClient } from '@trestle/chassis/database/sql';
import type { DomainEvent, EventFeed } from '@trestle/chassis/events/domain-event';
import type { Log } from '@trestle/log';
import { withClient } from '@trestle/postgres/client';
import type { Accounts } from './accounts.ts';
import { LIVE, NEXT, createIndexStore } from './index-store.ts';
import type { Project } from './projection.ts';

/** The name under which the position of the index in each feed is stored. */
export const CONSUMER = 'search';

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
const EVENTS = 1000;
/** A feed that has no more events than these is nearly read: under constant writes there is always another one. */
const FEW_EVENTS = 100;
/** A feed without events for so long has no more. */
const QUIET_MS = 500;

/** By feed, the position up to which its events are in the index. */
type Positions = Map<string, string | undefined>;

/**
 * Builds the index and resolves with true; with false when another process does. Searches use the old index meanwhile, and events go on
 * being projected into it. Throws, and leaves the old index as it was, when the accounts or the events cannot be read.
 */
export async function buildIndex(options: BuildOptions): Promise<boolean> {
  return withClient(options.url, async (client) => {
    const query: Query = async <Row extends object>(text: string, values: readonly unknown[] = []) =>
      (await client.query<Row>(text, [...values])).rows;
    const [lock] = await query<{ taken: boolean }>('SELECT pg_try_advisory_lock($1) AS "taken"', [BUILD_LOCK]);
    if (!lock?.taken) return false;
    const [started] = await query<{ at: Date }>('SELECT clock_timestamp() AS "at"');
    await query('SELECT search_enable_corrections()');
    await createTables(query);
    // What is committed behind these positions is either read below or projected afterwards.
    const positions = await readPositions(query, options.feeds);
    const posts = await copyPosts(query, options.signal);
    const accounts = await copyAccounts(query, options);
    await createIndexes(query);
    await catchUp(query, positions, options);
    await swap(query, positions, started?.at);
    options.log.info('search index built', { count: posts + accounts });
    return true;
  });
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
    await index.writePosts(rows.map(({ id }) => id));
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
    await query(`ANALYZE "${NEXT[table]}"`);
  }
}

const WITH_KEYS = 'USING gin ("words", "titleWords", search_keys("words", "createdAt")) WITH (gin_pending_list_limit = 64)';
const OF_WORDS = /^USING gin \((words|"titleWords")/;

/** Projects what has happened since the build began, until little is left: the consumers project that after the swap, in milliseconds. */
async function catchUp(query: Query, positions: Positions, { feeds, project, signal }: BuildOptions): Promise<void> {
  for (const feed of feeds) {
    for (;;) {
      const events = await readReady(feed, positions.get(feed.source), signal);
      if (events.length === 0) break;
      await project(events, query, NEXT);
      positions.set(feed.source, events.at(-1)?.position);
      if (events.length < FEW_EVENTS) break;
    }
  }
}

/** Returns the next events, or none when there is none for a while. */
async function readReady(feed: EventFeed, after: string | undefined, signal: AbortSignal): Promise<readonly DomainEvent[]> {
  const quiet = AbortSignal.timeout(QUIET_MS);
  return feed.read(after, EVENTS, AbortSignal.any([signal, quiet])).catch((error: unknown) => {
    if (quiet.aborted && !signal.aborted) return [];
    throw error;
  });
}

/**
 * Replaces the tables, and sets back the position of the projection to that of the new ones, in one transaction. Its consumers notice
 * that their position has changed, and project again what came in between.
 */
async function swap(query: Query, positions: Positions, startedAt: Date | undefined): Promise<void> {
  const statements = (['documents', 'words'] as const).flatMap((table) => [
    `DROP TABLE "${LIVE[table]}"`,
    `ALTER TABLE "${NEXT[table]}" RENAME TO "${LIVE[table]}"`,
  ]);
  for (let attempt = 1; ; attempt++) {
    try {
      await query('BEGIN');
      // Searches that come while the lock is waited for wait too.
      await query(`SET LOCAL lock_timeout = '250ms'`);
      for (const [source, position] of positions)
        await query(
          `INSERT INTO "feed_positions" ("consumer", "source", "position") VALUES ($1, $2, $3)
           ON CONFLICT ("consumer", "source") DO UPDATE SET "position" = excluded."position", "updatedAt" = now()`,
          [CONSUMER, source, position ?? null],
        );
      for (const statement of statements) await query(statement);
      await query('UPDATE "search_builds" SET "builtAt" = $1', [startedAt]);
      await query('COMMIT');
      return;
    } catch (error) {
      await query('ROLLBACK');
      if ((error as { code?: string }).code !== LOCK_NOT_AVAILABLE || attempt >= MAX_ATTEMPTS) throw error;
    }
  }
}

const LOCK_NOT_AVAILABLE = '55P03';
const MAX_ATTEMPTS = 100;
