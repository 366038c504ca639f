/** Orders and what belongs to them, by reference and by field. What hangs on an order is seen by whoever may see the order. */
import { fail } from '@trestle/schema/errors';
import type { OrdersContext } from '../context.ts';
import type { InvoiceResolvers, OrderItemResolvers, OrderResolvers, PaymentResolvers, ProductResolvers } from '../generated/resolvers.ts';
import { type Order as OrderRow, isPaid, maySee } from '../order.ts';
import { readProductId } from '../product.ts';

export const Product: ProductResolvers = {
  __resolveReference({ id }, { productById }) {
    const number = readProductId(id);
    return number === undefined ? null : productById.load(number);
  },
  id: ({ id }) => String(id),
  isAvailable: ({ stock }) => stock > 0,
};

export const Order: OrderResolvers = {
  __resolveReference: ({ id }, { findOrder }) => findOrder(id),
  customer: ({ customerId }) => ({ id: customerId }),
  items: ({ id }, _, { itemsByOrder }) => itemsByOrder.load(id),
  invoice: ({ id }, _, { invoiceByOrder }) => invoiceByOrder.load(id),
  payments: ({ id }, _, { paymentsByOrder }) => paymentsByOrder.load(id),
};

export const OrderItem: OrderItemResolvers = {
  __resolveReference: async ({ id }, context) => ifVisible(await context.itemById.load(id), context),
  async product({ productId }, _, { productById }) {
    const product = await productById.load(productId);
    if (!product) throw fail('INTERNAL_ERROR', 'An item names a product that is not there');
    return product;
  },
};

export const Invoice: InvoiceResolvers = {
  __resolveReference: async ({ id }, context) => ifVisible(await context.invoiceById.load(id), context),
  number: ({ number }) => `INV-${String(number).padStart(6, '0')}`,
  order: ({ orderId }, _, context) => requireOrder(orderId, context),
  isPaid: async ({ orderId }, _, context) => isPaid(await requireOrder(orderId, context)),
};

export const Payment: PaymentResolvers = {
  async __resolveReference({ id }, { paymentById, visibility }) {
    const payment = await paymentById.load(id);
    return payment && maySee(visibility, payment.customerId) ? payment : null;
  },
  customer: ({ customerId }) => ({ id: customerId }),
  order: ({ orderId }, _, { findOrder }) => (orderId === null ? null : findOrder(orderId)),
};

async function ifVisible<Row extends { readonly orderId: string }>(row: Row | null, { findOrder }: OrdersContext): Promise<Row | null> {
  return row && (await findOrder(row.orderId)) ? row : null;
}

async function requireOrder(id: string, { findOrder }: OrdersContext): Promise<OrderRow> {
  const order = await findOrder(id);
  if (!order) throw fail('NOT_FOUND', 'There is no such order');
  return order;
}
