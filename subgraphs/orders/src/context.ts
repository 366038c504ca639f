/** What the resolvers of the orders subgraph work with. Every look-up by key is batched, and knows what the caller may see. */
import type { RequestContext } from '@trestle/chassis/context';
import { createGroupLoader, createLoadersByArguments, createRowLoader } from '@trestle/chassis/loaders';
import { type Window, readWindow } from '@trestle/chassis/window';
import DataLoader from 'dataloader';
import type { OrderFilter } from './generated/resolvers.ts';
import { ORDER_SORTING, type OrderStore } from './order-store.ts';
import { type Visibility, maySee, visibilityOf } from './order.ts';
import type { PaymentStore } from './payment-store.ts';
import type { ProductStore } from './product-store.ts';

export interface OrdersDependencies {
  readonly orders: OrderStore;
  readonly products: ProductStore;
  readonly payments: PaymentStore;
}

export type OrdersContext = RequestContext & OrdersDependencies & { readonly visibility: Visibility } & ReturnType<typeof createLoaders>;

/** How many orders `User.orders` gives at most. */
const MAX_ORDERS = 100;

export function createOrdersContext(request: RequestContext, dependencies: OrdersDependencies): OrdersContext {
  const visibility = visibilityOf(request.caller);
  return { ...request, ...dependencies, visibility, ...createLoaders(dependencies, visibility) };
}

function createLoaders({ orders, products, payments }: OrdersDependencies, visibility: Visibility) {
  const anyOrder = createRowLoader(orders.findByIds, ({ id }) => id);
  const newest = readWindow({ first: MAX_ORDERS }, ORDER_SORTING);
  const count = (filter: OrderFilter) =>
    new DataLoader(async (customerIds: readonly string[]) => {
      const counts = new Map(
        (await orders.countByCustomer(customerIds, { filter, visibility })).map(({ key, count: total }) => [key, total]),
      );
      return customerIds.map((id) => counts.get(id) ?? 0);
    });
  return {
    /** The order, if the caller may know of it. */
    findOrder: async (id: string) => {
      const order = await anyOrder.load(id);
      return order && maySee(visibility, order.customerId) ? order : null;
    },
    productById: new DataLoader(async (ids: readonly number[]) => {
      const found = new Map((await products.findByIds(ids)).map((product) => [product.id, product]));
      return ids.map((id) => found.get(id) ?? null);
    }),
    itemById: createRowLoader(orders.findItemsByIds, ({ id }) => id),
    itemsByOrder: createGroupLoader(orders.findItems, ({ orderId }) => orderId),
    invoiceById: createRowLoader(orders.findInvoicesByIds, ({ id }) => id),
    invoiceByOrder: createRowLoader(orders.findInvoices, ({ orderId }) => orderId),
    paymentById: createRowLoader(payments.findByIds, ({ id }) => id),
    paymentsByOrder: createGroupLoader(payments.findByOrders, ({ orderId }) => orderId ?? ''),
    newestByCustomer: createGroupLoader(
      async (ids: readonly string[]) => orders.listByCustomer(ids, { filter: {}, visibility }, newest),
      ({ customerId }) => customerId,
    ),
    pagesByCustomer: createLoadersByArguments(({ filter, window }: { filter: OrderFilter; window: Window }) =>
      createGroupLoader(
        (ids) => orders.listByCustomer(ids, { filter, visibility }, window),
        ({ customerId }) => customerId,
      ),
    ),
    countsByCustomer: createLoadersByArguments(({ filter }: { filter: OrderFilter }) => count(filter)),
  };
}
