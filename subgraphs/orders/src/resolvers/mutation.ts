/** What can be changed of orders and payments (contract §3). */
import { requireCaller } from '@trestle/chassis/context';
import type { OrdersContext } from '../context.ts';
import type { MutationResolvers } from '../generated/resolvers.ts';
import { allowPayment, readPayment } from '../payment.ts';
import { readPurchase } from '../product.ts';

export const Mutation: MutationResolvers = {
  createOrder: (_, { input }, context) => changed(context, context.orders.create(requireCaller(context).userId, readPurchase(input))),

  cancelOrder(_, { id, expectedVersions }, context) {
    const { orders, visibility } = context;
    return changed(context, orders.cancel(id, { visibility, expectedVersions }));
  },

  advanceOrder(_, { id, to, expectedVersions }, context) {
    const { orders, visibility } = context;
    return changed(context, orders.advance(id, to, { visibility, expectedVersions }));
  },

  createPayment(_, { input }, context) {
    const payment = readPayment(input);
    allowPayment(requireCaller(context), payment);
    return changed(context, context.payments.create(payment, context.visibility));
  },
};

/** One request may hold several mutations: what an earlier one read is old after a later one. */
async function changed<Row>({ forget }: OrdersContext, write: Promise<Row>): Promise<Row> {
  const row = await write;
  forget();
  return row;
}
