/** Against a real PostgreSQL, with more documents than are searched first. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Sql, all, join, raw, sql } from '@trestle/chassis/database/sql';
import { parseWindow } from '@trestle/chassis/paging/window';
import { type CandidateOptions, selectCandidates } from '@trestle/chassis/search/candidates';
import { createDocuments, parseTestQuery, searchQueries } from '@trestle/chassis/search/test-queries';
import { toScore, toTsquery } from '@trestle/chassis/search/tsquery';
import fc from 'fast-check';
import { POSTS_KEYS, POST_SORTING, SEARCHED } from '../post/store.ts';
import { type TestContent, openTestContent } from '../test-content.ts';
import { SEARCH_TYPES } from './rules.ts';
import { CANDIDATES } from './store.ts';

/** `npm run test:long` sets it. */
const IS_LONG = process.env['TEST_LENGTH'] === 'long';

const DOCUMENTS = createDocuments(3000);
const PART = 500;

let content: TestContent;

beforeAll(async () => {
  content = await openTestContent(process.env['TEST_PG_URL']);
  // In parts, because a statement's time is limited and a busy machine needs seconds for all.
  for (let first = 0; first < DOCUMENTS.length; first += PART) {
    const part = DOCUMENTS.slice(first, first + PART);
    await content.prisma.$executeRaw(sql`
      INSERT INTO "posts" ("id", "authorId", "title", "body", "status", "createdAt")
      SELECT 'doc_' || i, 'usr_' || i % 3, title, body, (ARRAY['DRAFT', 'PUBLISHED'])[i % 2 + 1]::"PostStatus", created
      FROM unnest(${part.map(({ title }) => title)}::text[], ${part.map(({ body }) => body)}::text[],
        ${part.map(({ createdAt }) => createdAt.toISOString())}::timestamptz[]) WITH ORDINALITY d(title, body, created, place),
      LATERAL (SELECT place + ${first}::bigint AS i) numbered`);
  }
  await content.prisma.$executeRaw(sql`
    INSERT INTO "search_documents" ("id", "type", "words", "createdAt")
    SELECT "id", type, "words" || array_to_tsvector(ARRAY['$' || type]), "createdAt"
    FROM "posts", LATERAL (SELECT (ARRAY['USER', 'POST', 'COMMENT'])[substr("id", 5)::int % 3 + 1] AS type) typed`);
  await content.prisma.$executeRaw(sql`
    INSERT INTO "search_words" SELECT DISTINCT w FROM "search_documents", unnest(tsvector_to_array("words")) w WHERE w NOT LIKE '$%'`);
});
afterAll(() => content.close());

const types = fc.subarray([...SEARCH_TYPES], { minLength: 1 });
const idsOf = (rows: readonly { id: string }[]) => rows.map(({ id }) => id);
const read = (statement: Sql) => content.prisma.$queryRaw<{ id: string }[]>(statement);

describe('a search', () => {
  it('returns the page that a ranking of all documents begins with, when at most 1,000 match', async () => {
    let compared = 0;
    await fc.assert(
      fc.asyncProperty(searchQueries, async (written) => {
        const query = parseTestQuery(written);
        const ranked = await read(sql`
          SELECT "id" FROM "search_documents" t WHERE "words" @@ ${toTsquery(query)} AND "type" = 'USER' ORDER BY ${toScore(query)} DESC, "id" DESC`);
        if (ranked.length > 1000) return;
        compared++;
        const page = await content.stores.search.connection({ first: 100 }, { query, types: ['USER'] });
        expect(page.edges.map(({ node }) => node.id)).toEqual(idsOf(ranked).slice(0, 100));
        expect(await page.countTotal()).toBe(ranked.length);
      }),
      { numRuns: 25, examples: [['"the of" river'], ['"the" bridge'], ['"of the" "old bridge"']] },
    );
    expect(compared).toBeGreaterThan(5);
  });
});

describe('a list of posts', () => {
  it('begins with the most relevant matches, or with the newest when more than 1,000 match', async () => {
    const window = parseWindow({ first: 100 }, POST_SORTING, true);
    const fields = fc.subarray(['TITLE', 'BODY'] as const);
    const counts: number[] = [];
    await fc.assert(
      fc.asyncProperty(searchQueries, fields, async (written, searchIn) => {
        const query = parseTestQuery(written);
        const { field, weights } = SEARCHED[(searchIn.length === 1 ? searchIn[0] : undefined) ?? 'ALL'];
        const matching = await read(sql`SELECT "id" FROM "posts" WHERE ${raw(field)} @@ ${toTsquery(query, { weights })}`);
        const relevance = matching.length <= 1000 ? toScore(query) : sql`0::int`;
        const expected = await read(sql`
          SELECT "id" FROM "posts" t WHERE "id" = ANY(${idsOf(matching)}::text[]) AND ("status" = 'PUBLISHED' OR "authorId" = 'usr_1')
          ORDER BY ${relevance} DESC, "createdAt" DESC, "id" DESC LIMIT 101`);
        const scope = { filter: { searchIn }, query, visibility: { ownerId: 'usr_1' } };
        expect(idsOf(await content.stores.posts.list(scope, window))).toEqual(idsOf(expected));
        counts.push(matching.length);
      }),
      { numRuns: 40 },
    );
    expect(counts.some((count) => count > 1000)).toBe(true);
    expect(counts.some((count) => count > 0 && count <= 1000)).toBe(true);
  });
});

/** What candidates are compared with: the newest rows of each set of fields, without an index. */
const selectNewest = (matching: Sql, { table, fields, most }: CandidateOptions, condition: Sql) =>
  join(
    fields.map((each) => {
      const matches = each.map((field) => sql`${raw(field)} @@ ${matching}`);
      return sql`(
        SELECT "id" FROM ${raw(`"${table}"`)} t WHERE ${all([sql`numnode(${matching}) > 0`, ...matches, condition])}
        ORDER BY "createdAt" DESC, "id" DESC LIMIT ${most}::int)`;
    }),
    ' UNION ',
  );

const most = fc.constantFrom(5, 100, 1000);

describe('the candidates of a search', () => {
  const holds = (first: number, numRuns: number) =>
    fc.assert(
      fc.asyncProperty(searchQueries, types, most, async (written, chosen, count) => {
        const query = parseTestQuery(written);
        const also = sql`${chosen.map((type) => `'$${type}'`).join(' | ')}::tsquery`;
        const options = { ...CANDIDATES, also, most: count, first };
        const expected = await read(selectNewest(toTsquery(query), options, sql`"type" = ANY(${chosen}::text[])`));
        expect(idsOf(await read(selectCandidates(query, options))).sort()).toEqual(idsOf(expected).sort());
      }),
      { numRuns },
    );

  it.each([[50], [1000]])('are the newest matches and the newest that match in their titles, when %d are searched first', (first) =>
    holds(first, IS_LONG ? 25 : 12),
  );

  it('are the same when the index is from before it had keys', async () => {
    await content.prisma.$executeRaw(sql`DROP INDEX "search_documents_keys_idx"`);
    await content.prisma.$executeRaw(sql`CREATE INDEX ON "search_documents" USING GIN ("words")`);
    await content.prisma.$executeRaw(sql`CREATE INDEX ON "search_documents" USING GIN ("titleWords")`);
    await holds(1000, IS_LONG ? 10 : 5);
  });
});

describe('the candidates of a list of posts', () => {
  const holds = (first: number, numRuns: number) =>
    fc.assert(
      fc.asyncProperty(searchQueries, fc.constantFrom(...Object.values(SEARCHED)), most, async (written, { field, weights }, count) => {
        const query = parseTestQuery(written);
        const options = { table: POSTS_KEYS.table, fields: [[field]], weights, isMostlyInWords: true, most: count, first };
        const expected = await read(selectNewest(toTsquery(query, { weights }), { ...options, most: DOCUMENTS.length }, sql`true`));
        const found = idsOf(await read(selectCandidates(query, options)));
        expect(new Set(found).size).toBe(Math.min(count, expected.length));
        expect(idsOf(expected)).toEqual(expect.arrayContaining(found));
      }),
      { numRuns },
    );

  it.each([[50], [1000]])('are matches in titles, bodies or both, all unless there are too many, when %d are searched first', (first) =>
    holds(first, IS_LONG ? 25 : 12),
  );

  it('are the same before the index with keys is there', async () => {
    await content.prisma.$executeRaw(sql`DROP INDEX "posts_keys_idx"`);
    await content.prisma.$executeRaw(sql`CREATE INDEX "posts_words_idx" ON "posts" USING GIN ("words")`);
    await holds(1000, IS_LONG ? 10 : 5);
  });
});
