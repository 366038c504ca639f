/** Products in PostgreSQL. Every write is one statement. */
import type { LateIndex } from '@trestle/chassis/database/late-indexes';
import { type Sql, containing, given, sql } from '@trestle/chassis/database/sql';
import type { RowSet, Search } from '@trestle/chassis/paging/page-query';
import type { Sorting } from '@trestle/chassis/paging/window';
import { selectCandidates } from '@trestle/chassis/search/candidates';
import type { SearchQuery } from '@trestle/chassis/search/query';
import { toScore, toTsquery } from '@trestle/chassis/search/tsquery';
import { createGuardedUpdate } from '@trestle/chassis/stores/guarded-writes';
import { type StoreOptions, createRowStore } from '@trestle/chassis/stores/row-store';
import type { Prisma } from '../generated/prisma/client.ts';
import type { ProductFilter, ProductOrderField } from '../generated/resolvers.ts';
import { type NewProduct, type Product, type ProductChange, toCategory } from './rules.ts';

export const PRODUCT_SORTING: Sorting<ProductOrderField> = {
  list: 'products',
  columns: {
    ID: { column: 'id', type: 'int4' },
    NAME: { column: 'name', type: 'text' },
    CATEGORY: { column: 'category', type: 'text' },
    PRICE: { column: 'price', type: 'int4' },
    STOCK: { column: 'stock', type: 'int4' },
    CREATED_AT: { column: 'createdAt', type: 'timestamptz' },
  },
  default: { field: 'ID', direction: 'ASC' },
  idType: 'int4',
};

/** All columns but the words that are searched. */
const COLUMNS = [...['id', 'name', 'description', 'category', 'price', 'currency', 'stock', 'createdAt', 'updatedAt', 'version']] as const;

/** The products of a list. */
export interface ProductScope {
  readonly filter: ProductFilter;
  /** What `filter.search` means; absent when it is blank, which every product matches. */
  readonly query?: SearchQuery | undefined;
}

export type ProductStore = ReturnType<typeof createProductStore>;

export function createProductStore({ prisma, clock }: Pick<StoreOptions<Prisma.TransactionClient>, 'prisma' | 'clock'>) {
  const { list, count, connection } = createRowStore<Product, ProductScope, ProductOrderField>({
    prisma,
    sorting: PRODUCT_SORTING,
    rowsOf,
  });

  return {
    list,
    count,
    connection,

    findByIds: (ids: readonly number[]): Promise<Product[]> => prisma.product.findMany({ where: { id: { in: [...ids] } } }),

    create(product: NewProduct): Promise<Product> {
      const now = clock();
      return prisma.product.create({ data: { ...product, createdAt: now, updatedAt: now } });
    },

    /** Throws NOT_FOUND or PRECONDITION_FAILED, and then has changed nothing. An empty change keeps the version. */
    update: createGuardedUpdate<Product, ProductChange>({
      noun: 'product',
      clock,
      find: (where) => prisma.product.findMany({ where }),
      update: (args) => prisma.product.updateManyAndReturn(args),
    }),
  };
}

function rowsOf({ filter, query }: ProductScope): RowSet {
  return { table: 'products', columns: COLUMNS, where: conditionsOf(filter), search: query && toSearch(query, filter.search ?? '') };
}

/** The index by which products are searched. */
export const PRODUCTS_KEYS: LateIndex = {
  table: 'products',
  name: 'products_keys_idx',
  definition: 'USING gin ("words", search_keys("words", "createdAt")) WITH (gin_pending_list_limit = 64)',
  replaces: ['products_words_idx'],
};

/** Only phrases, in quotes. A product that contains this string has the phrases, because a quote ends a word. */
const PHRASES = /^\s*(?:"[^"]*"\s*)+$/;

/** Clients of earlier versions find substrings too; they are least relevant. */
function toSearch(query: SearchQuery, written: string): Search {
  const matching = toTsquery(query);
  const pattern = containing(written);
  const substring = sql`(t."name" ILIKE ${pattern} OR t."description" ILIKE ${pattern})`;
  // A phrase of a single stop word is no condition on words: nothing but the string is left of it.
  const contains = PHRASES.test(written) ? sql`(numnode(${matching}) = 0 AND ${substring})` : substring;
  return {
    condition: sql`(t."words" @@ ${matching} OR ${contains})`,
    score: toScore(query),
    // Substrings are looked for when they can still change the result.
    selectMatches: (most) => sql`
      WITH words AS MATERIALIZED (
        SELECT f."id"::int AS "id" FROM (${selectCandidates(query, { table: 'products', fields: [['"words"']], most })}) f)
      SELECT "id" FROM words
      UNION (SELECT t."id" FROM "products" t WHERE ${contains} AND (SELECT count(*) FROM words) < ${most}::int LIMIT ${most}::int)`,
  };
}

function conditionsOf(filter: ProductFilter): Sql[] {
  return [
    ...given(filter.category, (category) => sql`t."category" = ${toCategory(category)}`),
    ...given(filter.name, (name) => sql`t."name" = ${name}`),
    ...given(filter.price, (price) => sql`t."price" = ${price}::int`),
    ...given(filter.priceGte, (price) => sql`t."price" >= ${price}::int`),
    ...given(filter.priceLte, (price) => sql`t."price" <= ${price}::int`),
    ...given(filter.stockGte, (stock) => sql`t."stock" >= ${stock}::int`),
    ...given(filter.stockLte, (stock) => sql`t."stock" <= ${stock}::int`),
    ...given(filter.isAvailable, (isAvailable) => (isAvailable ? sql`t."stock" > 0` : sql`t."stock" = 0`)),
    ...given(filter.createdAtGte, (time) => sql`t."createdAt" >= ${time}::timestamptz`),
    ...given(filter.createdAtLte, (time) => sql`t."createdAt" <= ${time}::timestamptz`),
  ];
}
