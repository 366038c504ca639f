/** What can be read of products, orders and payments (contract §3). */
import { toConnection } from '@trestle/chassis/connection';
import { readWindow } from '@trestle/chassis/window';
import type { QueryResolvers } from '../generated/resolvers.ts';
import { ORDER_SORTING } from '../order-store.ts';
import { maySee } from '../order.ts';
import { PRODUCT_SORTING } from '../product-store.ts';
import { readProductId } from '../product.ts';

export const Query: QueryResolvers = {
  product(_, { id }, { productById }) {
    const number = readProductId(id);
    return number === undefined ? null : productById.load(number);
  },

  async productsConnection(_, args, { products }) {
    const window = readWindow(args, PRODUCT_SORTING);
    const filter = args.filter ?? {};
    return toConnection(await products.list(filter, window), window, () => products.count(filter));
  },

  order: (_, { id }, { findOrder }) => findOrder(id),

  async ordersConnection(_, args, { orders, visibility }) {
    const window = readWindow(args, ORDER_SORTING);
    const listing = { filter: args.filter ?? {}, visibility };
    return toConnection(await orders.list(listing, window), window, () => orders.count(listing));
  },

  async payment(_, { id }, { paymentById, visibility }) {
    const payment = await paymentById.load(id);
    return payment && maySee(visibility, payment.customerId) ? payment : null;
  },
};
