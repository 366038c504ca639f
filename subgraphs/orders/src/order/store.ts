/** Orders in PostgreSQL. Every write is one statement, or one transaction that begins by locking the order's row. */
import { type Sql, type SqlClient, given, sql } from '@trestle/chassis/database/sql';
import type { Sorting } from '@trestle/chassis/paging/window';
import { type ExpectedVersions, checkVersion, notFound } from '@trestle/chassis/request/faults';
import { type StoreOptions, createRowStore } from '@trestle/chassis/stores/row-store';
import { prefixOf } from '@trestle/chassis/values/ids';
import { type Visibility, maySee, whereVisible } from '../access.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import type { OrderFilter, OrderOrderField } from '../generated/resolvers.ts';
import { MAX_INT } from '../product/rules.ts';
import { type Purchase, explainRefusal } from './purchase.ts';
import { type Invoice, ORDER_STATUSES, type Order, type OrderItem, type OrderStatus, checkAdvance, checkCancel } from './rules.ts';

export const ORDER_SORTING: Sorting<OrderOrderField> = {
  list: 'orders',
  columns: {
    ID: { column: 'id', type: 'text' },
    STATUS: { column: 'status', type: '"OrderStatus"', values: ORDER_STATUSES },
    TOTAL: { column: 'total', type: 'int4' },
    CREATED_AT: { column: 'createdAt', type: 'timestamptz' },
    UPDATED_AT: { column: 'updatedAt', type: 'timestamptz' },
  },
  default: { field: 'CREATED_AT', direction: 'DESC' },
};

/** The orders of a list: those that match the filter and that the caller may see. */
export interface OrderScope {
  readonly filter: OrderFilter;
  readonly visibility: Visibility;
}

/** What a write requires of the order. */
export interface WriteGuard {
  readonly visibility: Visibility;
  readonly expectedVersions?: ExpectedVersions;
}

type Client = Prisma.TransactionClient;

export type OrderStore = ReturnType<typeof createOrderStore>;

export function createOrderStore(options: StoreOptions<Client>) {
  const { prisma, clock } = options;
  const rowsOf = (scope: OrderScope) => ({ table: 'orders', where: conditionsOf(scope) });
  const rows = createRowStore<Order, OrderScope, OrderOrderField>({ prisma, sorting: ORDER_SORTING, rowsOf });

  return {
    ...rows,

    findItems: (orderIds: readonly string[]): Promise<OrderItem[]> =>
      prisma.orderItem.findMany({ where: { orderId: { in: [...orderIds] } }, orderBy: { id: 'asc' } }),
    findItemsByIds: (ids: readonly string[]): Promise<OrderItem[]> => prisma.orderItem.findMany({ where: { id: { in: [...ids] } } }),
    findInvoices: (orderIds: readonly string[]): Promise<Invoice[]> =>
      prisma.invoice.findMany({ where: { orderId: { in: [...orderIds] } } }),
    findInvoicesByIds: (ids: readonly string[]): Promise<Invoice[]> => prisma.invoice.findMany({ where: { id: { in: [...ids] } } }),

    create: (customerId: string, purchase: Purchase): Promise<Order> => placeOrder(options, customerId, purchase),

    /** Cancels the order, restores its stock and refunds its payment. Throws NOT_FOUND, PRECONDITION_FAILED or BUSINESS_RULE_VIOLATION. */
    cancel: (id: string, guard: WriteGuard): Promise<Order> =>
      prisma.$transaction(async (transaction) => {
        checkCancel(await lockOrder(transaction, id, guard));
        const now = clock();
        await restoreStock(transaction, id, now);
        await transaction.payment.updateMany({
          where: { orderId: id, status: 'SUCCEEDED' },
          data: { status: 'REFUNDED', updatedAt: now, version: { increment: 1 } },
        });
        return transaction.order.update({ where: { id }, data: { status: 'CANCELLED', updatedAt: now, version: { increment: 1 } } });
      }),

    /** Changes the order's status to the next one. Throws NOT_FOUND, PRECONDITION_FAILED or BUSINESS_RULE_VIOLATION. */
    advance: (id: string, to: OrderStatus, guard: WriteGuard): Promise<Order> =>
      prisma.$transaction(async (transaction) => {
        checkAdvance(await lockOrder(transaction, id, guard), to);
        return transaction.order.update({ where: { id }, data: { status: to, updatedAt: clock(), version: { increment: 1 } } });
      }),
  };
}

/** Locks the order's row until the transaction ends; a concurrent transaction waits here and then sees the committed order. */
export async function lockOrder(
  transaction: Pick<SqlClient, '$queryRaw'>,
  id: string,
  { visibility, expectedVersions }: WriteGuard,
): Promise<Order> {
  // A string that is not an order's id never reaches the database.
  const [order] =
    prefixOf(id) === 'ord' ? await transaction.$queryRaw<Order[]>(sql`SELECT * FROM "orders" WHERE "id" = ${id} FOR UPDATE`) : [];
  if (!order || !maySee(visibility, order.customerId)) throw notFound('order', id);
  checkVersion('order', order, expectedVersions);
  return order;
}

/**
 * Takes the stock and inserts the order, its items and its invoice in one statement: all of it or nothing. The products are locked in the
 * order of their ids, so that two orders for the same products cannot deadlock, and the condition `stock >= qty` is checked under these
 * locks, so that no product is oversold. An order with nothing to pay is paid at once, which is its second version.
 * Throws BUSINESS_RULE_VIOLATION.
 */
async function placeOrder({ prisma, createId, clock }: StoreOptions<Client>, customerId: string, purchase: Purchase): Promise<Order> {
  const { lines } = purchase;
  const now = clock();
  // Sorted, since items are listed by their ids.
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
      INSERT INTO "orders" ("id", "customerId", "status", "total", "currency", "createdAt", "updatedAt", "version")
      SELECT ${createId('ord')}, ${customerId}, CASE "total" WHEN 0 THEN 'PAID' ELSE 'PENDING' END::"OrderStatus", "total"::int, "currency",
        ${now}::timestamptz, ${now}::timestamptz, CASE "total" WHEN 0 THEN 2 ELSE 1 END
      FROM sold RETURNING *
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
}

/**
 * Adds the order's quantities to the stock again, up to the largest integer, since the stock may have been set anew meanwhile. The products are
 * locked in the order of their ids, so that two orders cannot deadlock.
 */
async function restoreStock(transaction: Client, orderId: string, now: Date): Promise<void> {
  await transaction.$executeRaw`
    WITH held AS (
      SELECT "id" FROM "products" WHERE "id" IN (SELECT "productId" FROM "order_items" WHERE "orderId" = ${orderId}) ORDER BY "id" FOR NO KEY UPDATE
    )
    UPDATE "products" p SET "stock" = least(p."stock"::bigint + i."qty", ${MAX_INT}::int), "updatedAt" = ${now}::timestamptz,
      "version" = p."version" + 1
    FROM held, (SELECT "productId", sum("qty")::int AS "qty" FROM "order_items" WHERE "orderId" = ${orderId} GROUP BY 1) i
    WHERE p."id" = held."id" AND p."id" = i."productId"`;
}

function conditionsOf({ filter, visibility }: OrderScope): Sql[] {
  return [
    ...whereVisible(visibility),
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
