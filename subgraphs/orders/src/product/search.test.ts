/** Against a real PostgreSQL, with more products than are searched first. */
// cspell:ignore idge nnel
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { containing, sql } from '@trestle/chassis/database/sql';
import { parseWindow } from '@trestle/chassis/paging/window';
import { selectCandidates } from '@trestle/chassis/search/candidates';
import { createDocuments, parseTestQuery, searchQueries } from '@trestle/chassis/search/test-queries';
import { toScore, toTsquery } from '@trestle/chassis/search/tsquery';
import fc from 'fast-check';
import { type TestOrders, openTestOrders } from '../test-orders.ts';
import { PRODUCT_SORTING } from './store.ts';

/** `npm run test:long` sets it. */
const IS_LONG = process.env['TEST_LENGTH'] === 'long';

/** Searches of phrases alone, which need no substrings, and others with quotes, which do. */
const QUOTED = ['"a steel bridge"', '"steel bridge" "over the river"', '"the"', '"eel bri"', '"steel bri', 'ver "over"'];

const PART = 250;

let orders: TestOrders;

beforeAll(async () => {
  orders = await openTestOrders(process.env['TEST_PG_URL']);
  const data = createDocuments(3000).map(({ title, body, createdAt }, i) => ({
    ...{ name: title, description: body, category: `c${String(i % 2)}`, price: 1, currency: 'EUR', stock: 1, createdAt },
  }));
  const quoting = ['"a steel bridge"', 'the "steel bridge" "over the river"', 'sold as "the"', 'river "over" the', '"steel bridges"'].map(
    (description) => ({
      ...{ name: 'Quoting', description, category: 'c1', price: 1, currency: 'EUR', stock: 1 },
    }),
  );
  // In parts, because the statement's time is limited and a busy machine needs seconds for all.
  const products = [...data, ...quoting];
  for (let i = 0; i < products.length; i += PART) await orders.prisma.product.createMany({ data: products.slice(i, i + PART) });
});
afterAll(() => orders.close());

const idsOf = (rows: readonly { id: unknown }[]) => rows.map(({ id }) => Number(id));

describe('a list of products', () => {
  it('begins with the most relevant matches, which contain the words or the string, or with the first when more than 1,000 match', async () => {
    const window = parseWindow({ first: 100 }, PRODUCT_SORTING, true);
    const substring = fc.constantFrom('idge', 'er b', 'nnel', 'ver the', 'eel c', 'pier');
    const counts: number[] = [];
    await fc.assert(
      fc.asyncProperty(fc.oneof(searchQueries, substring), async (search) => {
        const query = parseTestQuery(search);
        const matching = await orders.prisma.$queryRaw<{ id: number }[]>(sql`
          SELECT "id" FROM "products"
          WHERE "words" @@ ${toTsquery(query)} OR "name" ILIKE ${containing(search)} OR "description" ILIKE ${containing(search)}`);
        const relevance = matching.length <= 1000 ? toScore(query) : sql`0::int`;
        const expected = await orders.prisma.$queryRaw<{ id: number }[]>(sql`
          SELECT "id" FROM "products" t WHERE "id" = ANY(${idsOf(matching)}::int[]) AND "category" = 'c1'
          ORDER BY ${relevance} DESC, "id" LIMIT 101`);
        const page = await orders.products.list({ filter: { search, category: 'C1' }, query }, window);
        expect(idsOf(page)).toEqual(idsOf(expected));
        counts.push(matching.length);
      }),
      { numRuns: 40, examples: QUOTED.map((search) => [search]) },
    );
    expect(counts.some((count) => count > 1000)).toBe(true);
    expect(counts.some((count) => count > 0 && count <= 1000)).toBe(true);
  });
});

describe('the candidates of a list of products', () => {
  const holds = (first: number, numRuns: number) =>
    fc.assert(
      fc.asyncProperty(searchQueries, fc.constantFrom(5, 100, 1000), async (written, most) => {
        const query = parseTestQuery(written);
        const expected = await orders.prisma.$queryRaw<{ id: number }[]>(sql`
          SELECT "id" FROM "products" WHERE "words" @@ ${toTsquery(query)}`);
        const options = { table: 'products', fields: [['"words"']], most, first };
        const found = idsOf(await orders.prisma.$queryRaw<{ id: string }[]>(selectCandidates(query, options)));
        expect(new Set(found).size).toBe(Math.min(most, expected.length));
        expect(idsOf(expected)).toEqual(expect.arrayContaining(found));
      }),
      { numRuns },
    );

  it.each([[50], [1000]])('are matches, all unless there are too many, when %d are searched first', (first) =>
    holds(first, IS_LONG ? 25 : 12),
  );

  it('are the same before the index with keys is there', async () => {
    await orders.prisma.$executeRaw(sql`DROP INDEX "products_keys_idx"`);
    await orders.prisma.$executeRaw(sql`CREATE INDEX "products_words_idx" ON "products" USING GIN ("words")`);
    await holds(1000, IS_LONG ? 10 : 5);
  });
});
