/** The batched reads of one request. What is looked up by an id of a client's is given only to whom may know of it. */
import { prefixOf } from '@trestle/chassis/values/ids';
import { createGroupLoader, createLoadersByArguments, createRowLoader } from '@trestle/chassis/loading/loaders';
import { MAX_PAGE_SIZE, type Window, readWindow } from '@trestle/chassis/paging/window';
import DataLoader from 'dataloader';
import type { OrderFilter } from './generated/resolvers.ts';
import { ORDER_SORTING } from './order-store.ts';
import { type Order, type Visibility, maySee } from './order.ts';
import type { OrdersStores } from './orders-stores.ts';
import { readProductId } from './product.ts';

export type OrdersLoaders = ReturnType<typeof createOrdersLoaders>;

export function createOrdersLoaders({ orders, products, payments }: OrdersStores, visibility: Visibility) {
  const orderById = createFinder('ord', orders.findByIds);
  const itemById = createFinder('itm', orders.findItemsByIds);
  const invoiceById = createFinder('inv', orders.findInvoicesByIds);
  const paymentById = createFinder('pay', payments.findByIds);
  const productById = createRowLoader(
    (ids) => products.findByIds(ids.map(Number)),
    ({ id }) => String(id),
  );

  const findOrder = async (id: string): Promise<Order | null> => ifMine(await orderById(id));
  const ifMine = <Row extends { readonly customerId: string }>(row: Row | null) => (row && maySee(visibility, row.customerId) ? row : null);
  const ifOfMyOrder = async <Row extends { readonly orderId: string }>(row: Row | null) =>
    row && (await findOrder(row.orderId)) ? row : null;

  const list = (filter: OrderFilter, window: Window) =>
    createGroupLoader(
      (customerIds) => orders.listByCustomer(customerIds, { filter, visibility }, window),
      ({ customerId }) => customerId,
    );
  const newest = list({}, readWindow({ first: MAX_PAGE_SIZE }, ORDER_SORTING));

  return {
    findOrder,
    findItem: async (id: string) => ifOfMyOrder(await itemById(id)),
    findInvoice: async (id: string) => ifOfMyOrder(await invoiceById(id)),
    findPayment: async (id: string) => ifMine(await paymentById(id)),
    findProduct: async (id: string) => (readProductId(id) === undefined ? null : productById.load(id)),

    itemsByOrder: createGroupLoader(orders.findItems, ({ orderId }) => orderId),
    invoiceByOrder: createRowLoader(orders.findInvoices, ({ orderId }) => orderId),
    paymentsByOrder: createGroupLoader(payments.findByOrders, ({ orderId }) => orderId ?? ''),

    /** A customer's newest orders, at most a page of them. */
    newestOrders: async (customerId: string) => (await newest.load(customerId)).slice(0, MAX_PAGE_SIZE),
    pagesByCustomer: createLoadersByArguments(({ filter, window }: { filter: OrderFilter; window: Window }) => list(filter, window)),
    countsByCustomer: createLoadersByArguments(({ filter }: { filter: OrderFilter }) =>
      createCounter((customerIds) => orders.countByCustomer(customerIds, { filter, visibility })),
    ),
  };
}

/** Finds rows by ids of one kind; no other text gets as far as the database. */
function createFinder<Row extends { readonly id: string }>(prefix: string, load: (ids: readonly string[]) => Promise<readonly Row[]>) {
  const rows = createRowLoader(load, ({ id }) => id);
  return async (id: string): Promise<Row | null> => (prefixOf(id) === prefix ? rows.load(id) : null);
}

/** A key without a row counts nothing. */
function createCounter(count: (keys: readonly string[]) => Promise<readonly { readonly key: string; readonly count: number }[]>) {
  return new DataLoader(async (keys: readonly string[]) => {
    const counts = new Map((await count(keys)).map(({ key, count: total }) => [key, total]));
    return keys.map((key) => counts.get(key) ?? 0);
  });
}
