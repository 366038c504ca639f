/** Orders and what belongs to them, by reference and by field. What hangs on an order is seen by whoever may see the order. */
import { fail } from '@trestle/schema/errors';
import type { OrdersContext } from '../context.ts';
import type { InvoiceResolvers, OrderItemResolvers, OrderResolvers, PaymentResolvers, ProductResolvers } from '../generated/resolvers.ts';
import { type Order as OrderRow, isPaid } from '../order.ts';

export const Product: ProductResolvers = {
  __resolveReference: ({ id }, { loaders }) => loaders.findProduct(id),
  id: ({ id }) => String(id),
  isAvailable: ({ stock }) => stock > 0,
};

export const Order: OrderResolvers = {
  __resolveReference: ({ id }, { loaders }) => loaders.findOrder(id),
  customer: ({ customerId }) => ({ id: customerId }),
  items: ({ id }, _, { loaders }) => loaders.itemsByOrder.load(id),
  invoice: ({ id }, _, { loaders }) => loaders.invoiceByOrder.load(id),
  payments: ({ id }, _, { loaders }) => loaders.paymentsByOrder.load(id),
};

export const OrderItem: OrderItemResolvers = {
  __resolveReference: ({ id }, { loaders }) => loaders.findItem(id),
  async product({ productId }, _, { loaders }) {
    const product = await loaders.findProduct(String(productId));
    if (!product) throw fail('INTERNAL_ERROR', 'An item names a product that is not there');
    return product;
  },
  currency: async ({ orderId }, _, context) => (await requireOrder(orderId, context)).currency,
};

export const Invoice: InvoiceResolvers = {
  __resolveReference: ({ id }, { loaders }) => loaders.findInvoice(id),
  number: ({ number }) => `INV-${String(number).padStart(6, '0')}`,
  order: ({ orderId }, _, context) => requireOrder(orderId, context),
  isPaid: async ({ orderId }, _, context) => isPaid(await requireOrder(orderId, context)),
};

export const Payment: PaymentResolvers = {
  __resolveReference: ({ id }, { loaders }) => loaders.findPayment(id),
  customer: ({ customerId }) => ({ id: customerId }),
  order: ({ orderId }, _, { loaders }) => (orderId === null ? null : loaders.findOrder(orderId)),
};

async function requireOrder(id: string, { loaders }: OrdersContext): Promise<OrderRow> {
  const order = await loaders.findOrder(id);
  if (!order) throw fail('NOT_FOUND', 'There is no such order');
  return order;
}
