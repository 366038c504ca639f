/** Against a real PostgreSQL: how many rows searches read when the newest rows are unlike the older ones. */
// cspell:ignore hashjoin mergejoin
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql, toSqlClient } from '@trestle/chassis/database/sql';
import { parseWindow } from '@trestle/chassis/paging/window';
import { selectCandidates } from '@trestle/chassis/search/candidates';
import { parseTestQuery } from '@trestle/chassis/search/test-queries';
import { withClient } from '@trestle/postgres/client';
import { type TestDatabase, createTestDatabase } from '@trestle/postgres/test-database';
import { POST_SORTING, createPostStore } from '../post/store.ts';
import { CANDIDATES } from './store.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase({ subgraph: 'content', adminUrl: process.env['TEST_PG_URL'] ?? '' });
  // Rows whose commit is not flushed yet cannot be marked as visible to all, and are read when only the index is wanted.
  await run(`DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET synchronous_commit = on', current_database()); END $$`);
});
afterAll(() => database.drop());

/** Runs statements as a store does, and resolves with their result and the number of rows of the table that they have read. */
function countRead<Result>(table: string, run: (client: ReturnType<typeof toSqlClient>) => PromiseLike<Result>) {
  return withClient(database.url, async (connection) => {
    const client = toSqlClient(
      async <Row extends object>(text: string, values: readonly unknown[] = []) => (await connection.query<Row>(text, [...values])).rows,
    );
    // As for a table that is larger.
    await connection.query('BEGIN; SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off');
    const result = await run(client);
    const [row] = await client.$queryRaw<{ read: number }[]>(
      sql`SELECT ("seq_tup_read" + "idx_tup_fetch")::int AS "read" FROM pg_stat_xact_user_tables WHERE "relname" = ${table}`,
    );
    await connection.query('ROLLBACK');
    return { result, read: row?.read ?? NaN };
  });
}

const run = (...statements: string[]) =>
  withClient(database.url, async (client) => {
    for (const statement of statements) await client.query(statement);
  });

describe('the candidates of a search', () => {
  // One document a minute with the word, and six years later 5,000 in an hour, of which few have it.
  beforeAll(() =>
    run(
      'DROP INDEX "search_documents_keys_idx"',
      `INSERT INTO "search_documents" ("id", "type", "words", "createdAt")
       SELECT 'pst_' || lpad(i::text, 6, '0'), 'POST', 'river', timestamptz '2020-01-01' + i * interval '1 minute' FROM generate_series(1, 60000) i
       UNION ALL SELECT 'pst_new_' || i, 'POST', CASE WHEN i % 500 = 0 THEN 'river' ELSE 'tunnel' END::tsvector, timestamptz '2026-01-01' + i * interval '1 second'
       FROM generate_series(1, 5000) i`,
      `CREATE INDEX "search_documents_keys_idx" ON "search_documents" USING GIN ("words", "titleWords", search_keys("words", "createdAt"))`,
      `INSERT INTO "search_words" VALUES ('river'), ('tunnel')`,
      'VACUUM (ANALYZE) "search_documents"',
    ),
  );

  it.each([1000, 4000])('are found without reading all older documents when the newest do not match, %d of them first', async (first) => {
    const fields = [['"words"']];
    const { result, read } = await countRead('search_documents', (client) =>
      client.$queryRaw<{ id: string }[]>(selectCandidates(parseTestQuery('river'), { ...CANDIDATES, fields, most: 500, first })),
    );
    const newest = Array.from({ length: 490 }, (_, i) => `pst_${String(60_000 - i).padStart(6, '0')}`);
    expect(result.map(({ id }) => id).filter((id) => !id.startsWith('pst_new'))).toEqual(newest);
    expect(read).toBeLessThan(25_000);
  });
});

describe('a list of posts', () => {
  beforeAll(() =>
    run(
      'ALTER TABLE "posts" DISABLE TRIGGER USER',
      `INSERT INTO "posts" ("id", "authorId", "title", "body", "status", "createdAt")
       SELECT 'pst_' || lpad(i::text, 6, '0'), 'usr_1', 'Title', CASE WHEN i <= 2000 THEN 'river' ELSE 'tunnel' END, 'PUBLISHED',
         timestamptz '2020-01-01' + i * interval '1 minute' + (i / 2001) * interval '5 years' FROM generate_series(1, 12000) i`,
      'VACUUM (ANALYZE) "posts"',
    ),
  );

  const list = (q: string, args = {}) =>
    countRead('posts', async (client) => {
      const prisma = client as unknown as Parameters<typeof createPostStore>[0]['prisma'];
      const store = createPostStore({ prisma, createId: () => '', clock: () => new Date(), findDeleted: () => Promise.resolve([]) });
      const window = parseWindow({ first: 10, ...args }, POST_SORTING, true);
      return store.list({ filter: {}, query: parseTestQuery(q), visibility: { ownerId: 'usr_1' } }, window);
    });
  const newestOf = (count: number) => Array.from({ length: count }, (_, i) => `pst_${String(2000 - i).padStart(6, '0')}`);

  it.each(['river', '"river"', 'riv'])('finds the newest of many matches of %s without comparing all posts that are newer', async (q) => {
    const { result, read } = await list(q);
    expect(result.map(({ id }) => id)).toEqual(newestOf(11));
    expect(read).toBeLessThan(6000);
  });

  it('has the same order beyond the newest thousand matches', async () => {
    const { result } = await list('river', { offset: 1500 });
    expect(result.map(({ id }) => id)).toEqual(newestOf(1511).slice(1500));
  });

  it('completes a word by those of no public document, too', async () => {
    await run(`INSERT INTO "search_words" VALUES ('river') ON CONFLICT DO NOTHING`);
    await run(`UPDATE "posts" SET "body" = 'rivulet', "status" = 'DRAFT' WHERE "id" = 'pst_000001'`);
    await run(`UPDATE "posts" SET "body" = 'tunnel' WHERE "id" BETWEEN 'pst_000010' AND 'pst_002000'`);
    const { result } = await list('riv');
    expect(result.map(({ id }) => id)).toContain('pst_000001');
    expect(result).toHaveLength(9);
  });
});
