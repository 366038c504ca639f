/** Orders in PostgreSQL. Every write is one statement or one transaction that begins by locking the order's row. */
import { prefixOf } from '@trestle/chassis/values/ids';
import { type Sql, countRows, countRowsBy, given, selectPage, selectPages, sql } from '@trestle/chassis/paging/page-query';
import type { Sorting, Window } from '@trestle/chassis/paging/window';
import { fail } from '@trestle/schema/errors';
import type { Prisma } from './generated/prisma/client.ts';
import type { OrderFilter, OrderOrderField } from './generated/resolvers.ts';
import {
  type Invoice,
  ORDER_STATUSES,
  type Order,
  type OrderItem,
  type OrderStatus,
  type Visibility,
  checkAdvance,
  checkCancel,
  maySee,
} from './order.ts';
import type { ExpectedVersions, StoreDependencies } from './prisma-store.ts';
import { MAX_INT } from './product.ts';
import { type Purchase, explainRefusal } from './purchase.ts';

export const ORDER_SORTING: Sorting<OrderOrderField> = {
  columns: {
    ID: { column: 'id', type: 'text' },
    STATUS: { column: 'status', type: '"OrderStatus"', values: ORDER_STATUSES },
    TOTAL: { column: 'total', type: 'int4' },
    CREATED_AT: { column: 'createdAt', type: 'timestamptz' },
    UPDATED_AT: { column: 'updatedAt', type: 'timestamptz' },
  },
  default: { field: 'CREATED_AT', direction: 'DESC' },
};

export interface OrderListing {
  readonly filter: OrderFilter;
  readonly visibility: Visibility;
}

export type OrderStore = ReturnType<typeof createOrderStore>;

export function createOrderStore({ prisma, createId, clock }: StoreDependencies) {
  return {
    findByIds: (ids: readonly string[]): Promise<Order[]> => prisma.order.findMany({ where: { id: { in: [...ids] } } }),
    findItems: (orderIds: readonly string[]): Promise<OrderItem[]> =>
      prisma.orderItem.findMany({ where: { orderId: { in: [...orderIds] } }, orderBy: { id: 'asc' } }),
    findItemsByIds: (ids: readonly string[]): Promise<OrderItem[]> => prisma.orderItem.findMany({ where: { id: { in: [...ids] } } }),
    findInvoices: (orderIds: readonly string[]): Promise<Invoice[]> =>
      prisma.invoice.findMany({ where: { orderId: { in: [...orderIds] } } }),
    findInvoicesByIds: (ids: readonly string[]): Promise<Invoice[]> => prisma.invoice.findMany({ where: { id: { in: [...ids] } } }),

    list: (listing: OrderListing, window: Window): Promise<Order[]> =>
      prisma.$queryRaw<Order[]>(selectPage({ table: 'orders', where: conditions(listing), window })),

    /** The same window for each of these customers, in one statement. */
    listByCustomer: (customerIds: readonly string[], listing: OrderListing, window: Window): Promise<Order[]> =>
      prisma.$queryRaw<Order[]>(
        selectPages({ table: 'orders', where: conditions(listing), window }, { by: 'customerId', keys: customerIds }),
      ),

    async count(listing: OrderListing): Promise<number> {
      const [row] = await prisma.$queryRaw<{ count: number }[]>(countRows({ table: 'orders', where: conditions(listing) }));
      return row?.count ?? 0;
    },

    countByCustomer: (customerIds: readonly string[], listing: OrderListing): Promise<{ key: string; count: number }[]> =>
      prisma.$queryRaw(countRowsBy({ table: 'orders', where: conditions(listing) }, { by: 'customerId', keys: customerIds })),

    /**
     * Takes the stock and places the order, its items and its invoice in one statement: either all of it or nothing. The products are
     * locked in the order of their ids, so that two orders for the same products don't wait for each other forever, and the guard
     * `stock >= qty` is judged under these locks, so that nothing is oversold. Throws BUSINESS_RULE_VIOLATION.
     */
    async create(customerId: string, purchase: Purchase): Promise<Order> {
      const { lines } = purchase;
      const now = clock();
      // In the order of the lines, since items are listed by their ids.
      const itemIds = lines.map(() => createId('itm')).sort();
      const productIds = lines.map(({ productId }) => productId);
      const [order] = await prisma.$queryRaw<Order[]>`
        WITH wanted AS (
          SELECT * FROM unnest(${productIds}::int[], ${lines.map(({ qty }) => qty)}::int[], ${itemIds}::text[]) AS line("productId", "qty", "itemId")
        ), held AS (
          SELECT p."id", p."price", p."currency", p."stock", wanted."qty", wanted."itemId"
          FROM "products" p JOIN wanted ON wanted."productId" = p."id" ORDER BY p."id" FOR NO KEY UPDATE OF p
        ), sold AS (
          SELECT sum("price"::bigint * "qty") AS "total", min("currency") AS "currency" FROM held
          HAVING count(*) = ${lines.length}::int AND bool_and("stock" >= "qty") AND count(DISTINCT "currency") = 1
            AND sum("price"::bigint * "qty") <= ${MAX_INT}::int
        ), taken AS (
          UPDATE "products" p SET "stock" = p."stock" - held."qty", "updatedAt" = ${now}::timestamptz, "version" = p."version" + 1
          FROM held, sold WHERE p."id" = held."id"
        ), placed AS (
          INSERT INTO "orders" ("id", "customerId", "total", "currency", "createdAt", "updatedAt")
          SELECT ${createId('ord')}, ${customerId}, "total"::int, "currency", ${now}::timestamptz, ${now}::timestamptz FROM sold RETURNING *
        ), items AS (
          INSERT INTO "order_items" ("id", "orderId", "productId", "qty", "unitPrice", "total")
          SELECT held."itemId", placed."id", held."id", held."qty", held."price", held."price" * held."qty" FROM placed, held
        ), invoice AS (
          INSERT INTO "invoices" ("id", "orderId", "total", "currency", "createdAt", "updatedAt")
          SELECT ${createId('inv')}, "id", "total", "currency", ${now}::timestamptz, ${now}::timestamptz FROM placed
        )
        SELECT * FROM placed`;
      if (!order) throw explainRefusal(await prisma.product.findMany({ where: { id: { in: productIds } } }), purchase);
      return order;
    },

    /** Calls the order off, returns its stock and refunds its payment. Throws NOT_FOUND, PRECONDITION_FAILED or BUSINESS_RULE_VIOLATION. */
    cancel: (id: string, guard: WriteGuard): Promise<Order> =>
      prisma.$transaction(async (transaction) => {
        checkCancel(await lockOrder(transaction, id, guard));
        const now = clock();
        // Locked in the order of their ids, so that two orders for the same products don't wait for each other for ever.
        await transaction.$executeRaw`
          WITH held AS (
            SELECT "id" FROM "products" WHERE "id" IN (SELECT "productId" FROM "order_items" WHERE "orderId" = ${id}) ORDER BY "id" FOR NO KEY UPDATE
          )
          UPDATE "products" p SET "stock" = p."stock" + i."qty", "updatedAt" = ${now}::timestamptz, "version" = p."version" + 1
          FROM held, (SELECT "productId", sum("qty")::int AS "qty" FROM "order_items" WHERE "orderId" = ${id} GROUP BY 1) i
          WHERE p."id" = held."id" AND p."id" = i."productId"`;
        await transaction.payment.updateMany({
          where: { orderId: id, status: 'SUCCEEDED' },
          data: { status: 'REFUNDED', updatedAt: now, version: { increment: 1 } },
        });
        return transaction.order.update({ where: { id }, data: { status: 'CANCELLED', updatedAt: now, version: { increment: 1 } } });
      }),

    /** Moves the order one step on. Throws NOT_FOUND, PRECONDITION_FAILED or BUSINESS_RULE_VIOLATION. */
    advance: (id: string, to: OrderStatus, guard: WriteGuard): Promise<Order> =>
      prisma.$transaction(async (transaction) => {
        checkAdvance(await lockOrder(transaction, id, guard), to);
        return transaction.order.update({ where: { id }, data: { status: to, updatedAt: clock(), version: { increment: 1 } } });
      }),
  };
}

export interface WriteGuard {
  readonly visibility: Visibility;
  readonly expectedVersions?: ExpectedVersions;
}

/** Holds the order until the transaction ends; what comes second waits here and then sees what the first has made of it. */
export async function lockOrder(
  transaction: Prisma.TransactionClient,
  id: string,
  { visibility, expectedVersions }: WriteGuard,
): Promise<Order> {
  // No text that is not an order's id gets as far as the database.
  const [order] = prefixOf(id) === 'ord' ? await transaction.$queryRaw<Order[]>`SELECT * FROM "orders" WHERE "id" = ${id} FOR UPDATE` : [];
  if (!order || !maySee(visibility, order.customerId)) throw fail('NOT_FOUND', 'There is no such order');
  if (expectedVersions && !expectedVersions.includes(order.version))
    throw fail('PRECONDITION_FAILED', 'The order has another version than expected');
  return order;
}

/** What a caller may not know of is in no list and in no total. */
export function ofVisible(visibility: Visibility): Sql[] {
  if (visibility.all) return [];
  return [visibility.customerId === null ? sql`false` : sql`t."customerId" = ${visibility.customerId}`];
}

function conditions({ filter, visibility }: OrderListing): Sql[] {
  return [
    ...ofVisible(visibility),
    ...given(filter.status, (status) => sql`t."status" = ${status}::"OrderStatus"`),
    ...given(filter.customerId, (customerId) => sql`t."customerId" = ${customerId}`),
    ...given(filter.total, (total) => sql`t."total" = ${total}::int`),
    ...given(filter.totalGte, (total) => sql`t."total" >= ${total}::int`),
    ...given(filter.totalLte, (total) => sql`t."total" <= ${total}::int`),
    ...given(filter.createdAtGte, (time) => sql`t."createdAt" >= ${time}::timestamptz`),
    ...given(filter.createdAtLte, (time) => sql`t."createdAt" <= ${time}::timestamptz`),
    ...given(filter.updatedAtGte, (time) => sql`t."updatedAt" >= ${time}::timestamptz`),
    ...given(filter.updatedAtLte, (time) => sql`t."updatedAt" <= ${time}::timestamptz`),
  ];
}
