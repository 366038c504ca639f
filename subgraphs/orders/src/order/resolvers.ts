/** The GraphQL fields of orders, their items and invoices (contract §3). */
import { connectionResolvers } from '@trestle/chassis/paging/connection';
import { visibilityOf } from '../access.ts';
import type { Resolvers } from '../generated/resolvers.ts';
import { advanceOrder, cancelOrder, createOrder } from './mutations.ts';
import { isPaid } from './rules.ts';
import { subscribeToStatusChanges } from './subscriptions.ts';

/** Items never change, so that neither their times nor their versions are stored (contract §2). */
const ITEM_VERSION = 1;

export const orderResolvers: Resolvers = {
  Query: {
    order: (_, { id }, { loaders }) => loaders.order.find(id),
    ordersConnection: (_, { filter, ...args }, { stores: { orders }, caller }) =>
      orders.connection(args, { filter: filter ?? {}, visibility: visibilityOf(caller) }),
  },
  Mutation: {
    createOrder: (_, args, context, info) => createOrder(args, context, info),
    cancelOrder: (_, args, context, info) => cancelOrder(args, context, info),
    advanceOrder: (_, args, context, info) => advanceOrder(args, context, info),
  },
  Subscription: {
    orderStatusChanged: { subscribe: (_, args, context) => subscribeToStatusChanges(args, context) },
  },
  Order: {
    __resolveReference: ({ id }, { loaders }) => loaders.order.find(id),
    customer: ({ customerId }) => ({ id: customerId }),
    items: ({ id }, _, { loaders }) => loaders.itemsByOrder.load(id),
    invoice: ({ id }, _, { loaders }) => loaders.invoiceByOrder.load(id),
    payments: ({ id }, _, { loaders }) => loaders.paymentsByOrder.load(id),
  },
  OrderItem: {
    __resolveReference: ({ id }, { loaders }) => loaders.item.find(id),
    product: ({ productId }, _, { loaders }) => loaders.product.need(String(productId)),
    currency: async ({ orderId }, _, { loaders }) => (await loaders.order.need(orderId)).currency,
    createdAt: async ({ orderId }, _, { loaders }) => (await loaders.order.need(orderId)).createdAt,
    updatedAt: async ({ orderId }, _, { loaders }) => (await loaders.order.need(orderId)).createdAt,
    version: () => ITEM_VERSION,
  },
  Invoice: {
    __resolveReference: ({ id }, { loaders }) => loaders.invoice.find(id),
    number: ({ number }) => `INV-${String(number).padStart(6, '0')}`,
    order: ({ orderId }, _, { loaders }) => loaders.order.need(orderId),
    isPaid: async ({ orderId }, _, { loaders }) => isPaid(await loaders.order.need(orderId)),
  },
  OrderConnection: connectionResolvers,
};
