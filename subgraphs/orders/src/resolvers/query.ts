/** What can be read of products, orders and payments (contract §3). */
import { toConnection } from '@trestle/chassis/paging/connection';
import { readWindow } from '@trestle/chassis/paging/window';
import type { QueryResolvers } from '../generated/resolvers.ts';
import { ORDER_SORTING } from '../order-store.ts';
import { PAYMENT_SORTING } from '../payment-store.ts';
import { PRODUCT_SORTING } from '../product-store.ts';

export const Query: QueryResolvers = {
  product: (_, { id }, { loaders }) => loaders.findProduct(id),

  async productsConnection(_, args, { products }) {
    const window = readWindow(args, PRODUCT_SORTING);
    const filter = args.filter ?? {};
    return toConnection(await products.list(filter, window), window, () => products.count(filter));
  },

  order: (_, { id }, { loaders }) => loaders.findOrder(id),

  async ordersConnection(_, args, { orders, visibility }) {
    const window = readWindow(args, ORDER_SORTING);
    const listing = { filter: args.filter ?? {}, visibility };
    return toConnection(await orders.list(listing, window), window, () => orders.count(listing));
  },

  payment: (_, { id }, { loaders }) => loaders.findPayment(id),

  async paymentsConnection(_, args, { payments, visibility }) {
    const window = readWindow(args, PAYMENT_SORTING);
    const listing = { filter: args.filter ?? {}, visibility };
    return toConnection(await payments.list(listing, window), window, () => payments.count(listing));
  },
};
