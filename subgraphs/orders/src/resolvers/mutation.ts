/** What can be changed of orders, payments and products (contract §3). */
import { requireCaller } from '@trestle/chassis/request/context';
import type { MutationResolvers } from '../generated/resolvers.ts';
import { allowPayment, readPayment } from '../payment.ts';
import { readNewProduct, readProductChange, requireProductId } from '../product.ts';
import { readPurchase } from '../purchase.ts';

export const Mutation: MutationResolvers = {
  createOrder(_, args, context, info) {
    const purchase = readPurchase(args.input);
    const { userId } = requireCaller(context);
    return context.write({ args, info }, ({ orders }) => orders.create(userId, purchase));
  },

  cancelOrder(_, args, { write, visibility }, info) {
    const { id, expectedVersions } = args;
    return write({ args, info }, ({ orders }) => orders.cancel(id, { visibility, expectedVersions }));
  },

  advanceOrder(_, args, { write, visibility }, info) {
    const { id, to, expectedVersions } = args;
    return write({ args, info }, ({ orders }) => orders.advance(id, to, { visibility, expectedVersions }));
  },

  createPayment(_, args, context, info) {
    const payment = readPayment(args.input);
    allowPayment(requireCaller(context), payment);
    return context.write({ args, info }, ({ payments }) => payments.create(payment, context.visibility));
  },

  createProduct(_, args, { write }, info) {
    const product = readNewProduct(args.input);
    return write({ args, info }, ({ products }) => products.create(product));
  },

  updateProduct(_, args, { write }, info) {
    const { input, expectedVersions } = args;
    const id = requireProductId(args.id);
    const change = readProductChange(input);
    return write({ args, info }, ({ products }) => products.update(id, change, expectedVersions));
  },
};
