/** Writes the search index. Each function brings documents up to date with what is stored now, so that repeating it changes nothing. */
import { type Sql, type SqlClient, name, sql } from '@trestle/chassis/database/sql';
import type { PublicAccount } from './accounts.ts';

/** The tables of an index: the one that is searched, or the one that a rebuild fills. */
export interface IndexTables {
  readonly documents: string;
  readonly words: string;
}

export const LIVE: IndexTables = { documents: 'search_documents', words: 'search_words' };
export const NEXT: IndexTables = { documents: 'search_documents_next', words: 'search_words_next' };

export type IndexStore = ReturnType<typeof createIndexStore>;

/** The most comments that one statement writes, which must end within its time limit. */
const COMMENTS = 500;

export function createIndexStore(prisma: SqlClient, { documents, words }: IndexTables = LIVE) {
  const table = name(documents);
  /**
   * Inserts or replaces the documents that the statement selects, and adds their words to those by which queries are corrected and completed.
   * Resolves with the number of documents.
   */
  const write = async (selected: Sql) => {
    const [row] = await prisma.$queryRaw<{ count: number }[]>(sql`
    WITH written AS (
      INSERT INTO ${table} ("id", "type", "postId", "name", "bio", "words", "createdAt") ${selected}
      ON CONFLICT ("id") DO UPDATE SET "name" = excluded."name", "bio" = excluded."bio", "words" = excluded."words"
      RETURNING "words"
    ), added AS (
      INSERT INTO ${name(words)} ("word")
      SELECT DISTINCT w COLLATE "C" FROM written, unnest(tsvector_to_array("words")) AS w
      WHERE w NOT LIKE '$%' ORDER BY 1 ON CONFLICT DO NOTHING
    )
    SELECT count(*)::int AS "count" FROM written`);
    return row?.count ?? 0;
  };
  const remove = (condition: Sql) => prisma.$executeRaw(sql`DELETE FROM ${table} d WHERE ${condition}`);
  const addType = (vector: Sql, type: string) => sql`${vector} || array_to_tsvector(ARRAY[${`$${type}`}])`;

  const insertPosts = (ids: readonly string[]) =>
    write(sql`
      SELECT p."id", 'POST', NULL, NULL, NULL, ${addType(sql`p."words"`, 'POST')}, p."createdAt"
      FROM "posts" p WHERE p."status" = 'PUBLISHED' AND p."id" = ANY(${[...ids]}::text[])`);
  const selectComments = (condition: Sql) => sql`
    SELECT c."id", 'COMMENT', c."postId", NULL, NULL, ${addType(sql`search_vector('', c."body")`, 'COMMENT')}, c."createdAt"
    FROM "comments" c JOIN "posts" p ON p."id" = c."postId" WHERE p."status" = 'PUBLISHED' AND ${condition}`;

  return {
    /**
     * Indexes posts with their comments in tables that have none of them. Nothing is removed: a table that has no indexes yet would be read as a
     * whole for that.
     */
    async copyPosts(ids: readonly string[]): Promise<void> {
      await insertPosts(ids);
      await write(selectComments(sql`c."postId" = ANY(${[...ids]}::text[])`));
    },

    /** Indexes posts; when one is published, its comments too. What is not published leaves the index. */
    async writePosts(ids: readonly string[]): Promise<void> {
      const given = sql`ANY(${[...ids]}::text[])`;
      const isPublished = (id: Sql) => sql`EXISTS (SELECT FROM "posts" p WHERE p."id" = ${id} AND p."status" = 'PUBLISHED')`;
      await remove(sql`d."id" = ${given} AND NOT ${isPublished(sql`d."id"`)}`);
      await remove(sql`d."postId" = ${given} AND NOT ${isPublished(sql`d."postId"`)}`);
      await insertPosts(ids);
      const missing = sql`c."postId" = ${given} AND NOT EXISTS (SELECT FROM ${table} d WHERE d."id" = c."id") LIMIT ${COMMENTS}::int`;
      while ((await write(selectComments(missing))) === COMMENTS);
    },

    /** Indexes comments on published posts; others leave the index. */
    async writeComments(ids: readonly string[]): Promise<void> {
      const given = sql`ANY(${[...ids]}::text[])`;
      await remove(sql`d."id" = ${given} AND NOT EXISTS (
        SELECT FROM "comments" c JOIN "posts" p ON p."id" = c."postId" WHERE c."id" = d."id" AND p."status" = 'PUBLISHED')`);
      await write(selectComments(sql`c."id" = ${given}`));
    },

    /** Indexes the accounts, and removes those of the ids that are not among them. */
    async writeAccounts(ids: readonly string[], accounts: readonly PublicAccount[]): Promise<void> {
      await remove(sql`d."id" = ANY(${[...ids]}::text[]) AND NOT d."id" = ANY(${accounts.map(({ id }) => id)}::text[])`);
      await write(sql`
        SELECT u."id", 'USER', NULL, u."name", u."bio", ${addType(sql`search_vector(u."name", coalesce(u."bio", ''))`, 'USER')}, u."createdAt"
        FROM unnest(
          ${accounts.map(({ id }) => id)}::text[], ${accounts.map((account) => account.name)}::text[],
          ${accounts.map(({ bio }) => bio)}::text[], ${accounts.map(({ createdAt }) => createdAt)}::timestamptz[]
        ) u("id", "name", "bio", "createdAt")`);
    },
  };
}
