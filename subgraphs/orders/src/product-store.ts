/** Products in PostgreSQL. Every write is one statement. */
import { type Sql, containing, countRows, given, selectPage, sql } from '@trestle/chassis/paging/page-query';
import type { Sorting, Window } from '@trestle/chassis/paging/window';
import { fail } from '@trestle/schema/errors';
import type { ProductFilter, ProductOrderField } from './generated/resolvers.ts';
import type { ExpectedVersions, StoreDependencies } from './prisma-store.ts';
import type { NewProduct, Product, ProductChange } from './product.ts';

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

export function createProductStore({ prisma, clock }: Pick<StoreDependencies, 'prisma' | 'clock'>) {
  return {
    findByIds: (ids: readonly number[]): Promise<Product[]> => prisma.product.findMany({ where: { id: { in: [...ids] } } }),

    list: (filter: ProductFilter, window: Window): Promise<Product[]> =>
      prisma.$queryRaw<Product[]>(selectPage({ table: 'products', where: conditions(filter), window })),

    async count(filter: ProductFilter): Promise<number> {
      const [row] = await prisma.$queryRaw<{ count: number }[]>(countRows({ table: 'products', where: conditions(filter) }));
      return row?.count ?? 0;
    },

    create(product: NewProduct): Promise<Product> {
      const now = clock();
      return prisma.product.create({ data: { ...product, createdAt: now, updatedAt: now } });
    },

    /** Throws NOT_FOUND or PRECONDITION_FAILED, and then has changed nothing. A change of nothing leaves the version. */
    async update(id: number, change: ProductChange, expectedVersions: ExpectedVersions): Promise<Product> {
      const where = { id, ...(expectedVersions && { version: { in: [...expectedVersions] } }) };
      const data = { ...change, updatedAt: clock(), version: { increment: 1 } };
      const changes = Object.keys(change).length > 0;
      const [product] = changes ? await prisma.product.updateManyAndReturn({ where, data }) : await prisma.product.findMany({ where });
      if (product) return product;
      throw (await prisma.product.findUnique({ where: { id }, select: { id: true } }))
        ? fail('PRECONDITION_FAILED', 'The product has another version than expected')
        : fail('NOT_FOUND', 'There is no such product');
    },
  };
}

function conditions(filter: ProductFilter): Sql[] {
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
    ...given(filter.search, (text) => sql`(t."name" ILIKE ${containing(text)} OR t."description" ILIKE ${containing(text)})`),
  ];
}
