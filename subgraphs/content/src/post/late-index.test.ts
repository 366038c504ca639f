/** Against a real PostgreSQL. */
// cspell:ignore indisvalid
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createLateIndexes } from '@trestle/chassis/database/late-indexes';
import { createLog } from '@trestle/log';
import { withClient } from '@trestle/postgres/client';
import { type TestDatabase, createTestDatabase } from '@trestle/postgres/test-database';
import { POSTS_KEYS } from './store.ts';

let database: TestDatabase;
let asMigrated: string | undefined;
const log = createLog({ service: 'test', level: 'silent' });
const run = (statement: string) => withClient(database.url, async (client) => (await client.query<Record<string, string>>(statement)).rows);
const readIndexes = async (): Promise<Partial<Record<string, string>>> => {
  const rows = await run(`SELECT "indexname", "indexdef" FROM pg_indexes WHERE "tablename" = 'posts' AND "indexdef" LIKE '%words%'`);
  return Object.fromEntries(rows.map(({ indexname = '', indexdef }): [string, string | undefined] => [indexname, indexdef]));
};

beforeEach(async () => {
  database = await createTestDatabase({ subgraph: 'content', adminUrl: process.env['TEST_PG_URL'] ?? '' });
  asMigrated = (await readIndexes())['posts_keys_idx'];
  await run(`INSERT INTO "posts" ("id", "authorId", "title", "body") VALUES ('pst_1', 'usr_1', 'Bridges', 'of steel')`);
  await run('DROP INDEX "posts_keys_idx"');
  await run('CREATE INDEX "posts_words_idx" ON "posts" USING GIN ("words")');
});
afterEach(() => database.drop());

const create = () => createLateIndexes({ url: database.url, indexes: [POSTS_KEYS], log }).done;

/** Resolves when a statement of this database that begins so waits for a lock. */
async function untilWaiting(statement: string): Promise<void> {
  const waiting = `SELECT FROM pg_stat_activity
    WHERE "datname" = current_database() AND "wait_event_type" = 'Lock' AND "query" LIKE '${statement}%'`;
  while ((await run(waiting)).length === 0) await new Promise((resolve) => setImmediate(resolve));
}

describe('the index of posts with keys', () => {
  it('is created beside rows as the migration creates it, and replaces the former ones; again, it changes nothing', async () => {
    await create();
    expect(asMigrated).toContain('search_keys');
    expect(await readIndexes()).toEqual({ posts_keys_idx: asMigrated });
    await create();
    expect(await readIndexes()).toEqual({ posts_keys_idx: asMigrated });
  });

  it('is created anew when its creation was interrupted', async () => {
    // A division by zero leaves an invalid index, as an interruption does.
    await expect(run('CREATE INDEX CONCURRENTLY "posts_keys_idx" ON "posts" ((1 / ("version" - 1)))')).rejects.toThrow('division');
    expect(await run(`SELECT FROM pg_index WHERE "indexrelid" = '"posts_keys_idx"'::regclass AND NOT "indisvalid"`)).toHaveLength(1);
    await create();
    expect(await readIndexes()).toEqual({ posts_keys_idx: asMigrated });
    expect(await run(`SELECT WHERE search_has_keys('posts')`)).toHaveLength(1);
  });

  it('delays no writer, neither while it is created nor while the former one is dropped', async () => {
    const insert = (id: string) => `INSERT INTO "posts" ("id", "authorId", "title") VALUES ('${id}', 'usr_1', 'Title')`;
    const write = (id: string) => run(`SET lock_timeout = '1s'; ${insert(id)}`);
    await withClient(database.url, (writer) =>
      withClient(database.url, async (reader) => {
        await writer.query(`BEGIN; ${insert('pst_2')}`);
        const created = create();
        await untilWaiting('CREATE INDEX');
        await write('pst_3');
        await reader.query('BEGIN; SELECT FROM "posts"');
        await writer.query('COMMIT');
        await untilWaiting('DROP INDEX');
        await write('pst_4');
        await reader.query('COMMIT');
        await created;
      }),
    );
    expect(await readIndexes()).toEqual({ posts_keys_idx: asMigrated });
  });

  it('is not created by two processes at once', async () => {
    await Promise.all([create(), create(), create()]);
    expect(await readIndexes()).toEqual({ posts_keys_idx: asMigrated });
  });
});
