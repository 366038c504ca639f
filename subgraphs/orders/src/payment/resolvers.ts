/** The GraphQL fields of payments (contract §3). */
import { connectionResolvers } from '@trestle/chassis/paging/connection';
import { visibilityOf } from '../access.ts';
import type { Resolvers } from '../generated/resolvers.ts';
import { createPayment } from './mutations.ts';

export const paymentResolvers: Resolvers = {
  Query: {
    payment: (_, { id }, { loaders }) => loaders.payment.find(id),
    paymentsConnection: (_, { filter, ...args }, { stores: { payments }, caller }) =>
      payments.connection(args, { filter: filter ?? {}, visibility: visibilityOf(caller) }),
  },
  Mutation: {
    createPayment: (_, args, context, info) => createPayment(args, context, info),
  },
  Payment: {
    __resolveReference: ({ id }, { loaders }) => loaders.payment.find(id),
    customer: ({ customerId }) => ({ id: customerId }),
    order: ({ orderId }, _, { loaders }) => (orderId === null ? null : loaders.order.find(orderId)),
  },
  PaymentConnection: connectionResolvers,
};
