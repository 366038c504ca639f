/** Against a real PostgreSQL: a build of the index beside other statements. */
// cspell:ignore relallvisible relid
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { DomainEvent, EventFeed } from '@trestle/chassis/events/feeds/domain-event';
import { createLog } from '@trestle/log';
import { withClient } from '@trestle/postgres/client';
import { type TestDatabase, createTestDatabase } from '@trestle/postgres/test-database';
import { createAccounts } from './accounts.ts';
import { buildIndex } from './build.ts';
import { type Project, createProjection } from './projection.ts';

let database: TestDatabase;
let events: DomainEvent[];
const log = createLog({ service: 'test', level: 'silent' });
const accounts = createAccounts({ url: undefined });
const run = (statement: string) =>
  withClient(database.url, async (client) => (await client.query<Record<string, unknown>>(statement)).rows);
/** The locks of builds of this database: the server has the databases of other tests, too. */
const LOCKED = `SELECT FROM pg_locks WHERE "locktype" = 'advisory' AND "pid" <> pg_backend_pid()
  AND "database" = (SELECT "oid" FROM pg_database WHERE "datname" = current_database())`;
const insertPosts = (first: number, last: number) =>
  run(`INSERT INTO "posts" ("id", "authorId", "title", "body", "status")
    SELECT 'pst_' || lpad(i::text, 6, '0'), 'usr_1', 'Title ' || i, 'bridges of steel', 'PUBLISHED' FROM generate_series(${String(first)}, ${String(last)}) i`);
const readIds = async () => (await run('SELECT "id" FROM "search_documents" ORDER BY "id"')).map(({ id }) => id);
const publish = (subject: string) => {
  const position = String(events.length + 1);
  events.push({ position, type: 'post.created', subject, source: 'content' } as DomainEvent);
};
/** As the feeds of subgraphs, it waits for an event until the signal is aborted. */
const feed: EventFeed = {
  source: 'content',
  read: async (after, limit, signal) => {
    const ready = events.slice(Number(after ?? 0)).slice(0, limit);
    if (ready.length > 0) return ready;
    await new Promise((resolve) => {
      signal.addEventListener('abort', resolve);
    });
    signal.throwIfAborted();
    return [];
  },
};

interface TestBuild {
  readonly project?: Project;
  readonly signal?: AbortSignal;
}
const build = ({ project = createProjection(accounts), signal = new AbortController().signal }: TestBuild = {}) =>
  buildIndex({ url: database.url, accounts, feeds: [feed], project, log, signal });

/** Resolves when a statement of this database that begins so waits for a lock. */
async function untilWaiting(statement: string): Promise<void> {
  const waiting = `SELECT FROM pg_stat_activity
    WHERE "datname" = current_database() AND "wait_event_type" = 'Lock' AND "query" LIKE '${statement}%'`;
  while ((await run(waiting)).length === 0) await new Promise((resolve) => setImmediate(resolve));
}

beforeEach(async () => {
  events = [];
  database = await createTestDatabase({ subgraph: 'content', adminUrl: process.env['TEST_PG_URL'] ?? '' });
});
afterEach(() => database.drop());

describe('a build of the index', () => {
  it('waits for a statement that reads the old index, such as a backup, and then has what happened meanwhile', async () => {
    await insertPosts(1, 2);
    let projected = 0;
    const project: Project = async (...args) => {
      await createProjection(accounts)(...args);
      projected++;
    };
    await withClient(database.url, async (backup) => {
      await backup.query('BEGIN; SELECT FROM "search_documents"');
      const building = build({ project });
      await untilWaiting('DROP TABLE "search_documents"');
      await insertPosts(3, 3);
      publish('pst_000003');
      while (projected === 0) await new Promise((resolve) => setImmediate(resolve));
      expect(await readIds()).toEqual([]);
      await backup.query('COMMIT');
      expect(await building).toBe(true);
    });
    expect(await readIds()).toEqual(['pst_000001', 'pst_000002', 'pst_000003']);
    expect(await run('SELECT "position" FROM "feed_positions" WHERE "consumer" = \'search\'')).toEqual([{ position: '1' }]);
  });

  it('ends when its process stops, also in a statement that takes long, and leaves the index to another process', async () => {
    await insertPosts(1, 2);
    const stopping = new AbortController();
    await withClient(database.url, async (other) => {
      await other.query('BEGIN; LOCK TABLE "posts"');
      const building = build({ signal: stopping.signal });
      await untilWaiting('SELECT "id" FROM "posts"');
      stopping.abort();
      await expect(building).rejects.toThrow();
      await other.query('COMMIT');
    });
    while (!(await build()));
    expect(await readIds()).toHaveLength(2);
  });

  it('reads the new table as often for many posts as for few, and marks its rows as visible to all', async () => {
    const readScans = async () => {
      // The server counts the scans of a connection when it has ended.
      while ((await run(LOCKED)).length > 0);
      const [row] = await run(`SELECT t."seq_scan"::int AS "scans", c."relallvisible" > 0 AS "isVisible" FROM pg_stat_user_tables t
        JOIN pg_class c ON c."oid" = t."relid" WHERE t."relname" = 'search_documents'`);
      return row;
    };
    // Rows whose commit is not flushed yet cannot be marked.
    await run(`DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET synchronous_commit = on', current_database()); END $$`);
    await insertPosts(1, 400);
    await build();
    const few = await readScans();
    await insertPosts(401, 2400);
    await build();
    expect(await readIds()).toHaveLength(2400);
    expect(await readScans()).toEqual(few);
    expect(few).toMatchObject({ isVisible: true });
  });

  it('creates indexes by one process of the server, so that searches have the others', async () => {
    await insertPosts(1, 1);
    publish('pst_000001');
    let workers: object[] = [];
    const project: Project = async (...args) => {
      workers = await args[1]('SHOW max_parallel_maintenance_workers');
      await createProjection(accounts)(...args);
    };
    await build({ project });
    expect(workers).toEqual([{ max_parallel_maintenance_workers: '0' }]);
  });

  it('has the comments of published posts and no others', async () => {
    await insertPosts(1, 1200);
    await run(`UPDATE "posts" SET "status" = 'DRAFT' WHERE "id" = 'pst_000002'`);
    await run(`INSERT INTO "comments" ("id", "postId", "authorId", "body")
      SELECT 'cmt_' || i, 'pst_' || lpad(i::text, 6, '0'), 'usr_1', 'A comment' FROM unnest(ARRAY[1, 2, 1200]) i`);
    await build();
    expect(await run(`SELECT "id", "postId" FROM "search_documents" WHERE "type" = 'COMMENT' ORDER BY "id"`)).toEqual([
      { id: 'cmt_1', postId: 'pst_000001' },
      { id: 'cmt_1200', postId: 'pst_001200' },
    ]);
    expect(await readIds()).toHaveLength(1199 + 2);
  });
});
