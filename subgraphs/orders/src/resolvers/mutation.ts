/** What can be changed of orders and payments (contract §3). */
import { requireCaller } from '@trestle/chassis/context';
import type { MutationResolvers } from '../generated/resolvers.ts';
import { allowPayment, readPayment } from '../payment.ts';
import { readPurchase } from '../product.ts';

export const Mutation: MutationResolvers = {
  createOrder: (_, { input }, context) => context.orders.create(requireCaller(context).userId, readPurchase(input)),

  cancelOrder: (_, { id, expectedVersions }, { orders, visibility }) => orders.cancel(id, { visibility, expectedVersions }),

  advanceOrder: (_, { id, to, expectedVersions }, { orders, visibility }) => orders.advance(id, to, { visibility, expectedVersions }),

  createPayment(_, { input }, context) {
    const payment = readPayment(input);
    allowPayment(requireCaller(context), payment);
    return context.payments.create(payment, context.visibility);
  },
};
