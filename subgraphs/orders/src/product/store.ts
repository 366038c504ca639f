/** Products in PostgreSQL. Every write is one statement. */
import { type Sql, containing, given, sql } from '@trestle/chassis/database/sql';
import type { Sorting } from '@trestle/chassis/paging/window';
import { createGuardedUpdate } from '@trestle/chassis/stores/guarded-writes';
import { type StoreOptions, createRowStore } from '@trestle/chassis/stores/row-store';
import type { Prisma } from '../generated/prisma/client.ts';
import type { ProductFilter, ProductOrderField } from '../generated/resolvers.ts';
import type { NewProduct, Product, ProductChange } from './rules.ts';

export const PRODUCT_SORTING: Sorting<ProductOrderField> = {
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

export type ProductStore = ReturnType<typeof createProductStore>;

export function createProductStore({ prisma, clock }: Pick<StoreOptions<Prisma.TransactionClient>, 'prisma' | 'clock'>) {
  const rowsOf = (filter: ProductFilter) => ({ table: 'products', where: conditionsOf(filter) });
  const { list, count, connection } = createRowStore<Product, ProductFilter, ProductOrderField>({
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

function conditionsOf(filter: ProductFilter): Sql[] {
  return [
    ...given(filter.category, (category) => sql`t."category" = lower(${category})`),
    ...given(filter.name, (name) => sql`t."name" = ${name}`),
    ...given(filter.price, (price) => sql`t."price" = ${price}::int`),
    ...given(filter.priceGte, (price) => sql`t."price" >= ${price}::int`),
    ...given(filter.priceLte, (price) => sql`t."price" <= ${price}::int`),
    ...given(filter.stockGte, (stock) => sql`t."stock" >= ${stock}::int`),
    ...given(filter.stockLte, (stock) => sql`t."stock" <= ${stock}::int`),
    ...given(filter.isAvailable, (isAvailable) => (isAvailable ? sql`t."stock" > 0` : sql`t."stock" = 0`)),
    ...given(filter.createdAtGte, (time) => sql`t."createdAt" >= ${time}::timestamptz`),
    ...given(filter.createdAtLte, (time) => sql`t."createdAt" <= ${time}::timestamptz`),
    ...given(filter.search, (words) => sql`(t."name" ILIKE ${containing(words)} OR t."description" ILIKE ${containing(words)})`),
  ];
}
