/** Payments in PostgreSQL. */
import { fail } from '@trestle/schema/errors';
import type { Visibility } from './order.ts';
import { lockOrder } from './order-store.ts';
import { type NewPayment, type Payment, checkSettles } from './payment.ts';
import type { StoreDependencies } from './prisma-store.ts';

export type PaymentStore = ReturnType<typeof createPaymentStore>;

export function createPaymentStore({ prisma, createId, clock }: StoreDependencies) {
  return {
    findByIds: (ids: readonly string[]): Promise<Payment[]> => prisma.payment.findMany({ where: { id: { in: [...ids] } } }),
    findByOrders: (orderIds: readonly string[]): Promise<Payment[]> =>
      prisma.payment.findMany({ where: { orderId: { in: [...orderIds] } }, orderBy: [{ createdAt: 'desc' }, { id: 'desc' }] }),

    /**
     * Takes the money and, in the same transaction and under the order's row lock, marks the order paid; who comes second finds it paid.
     * Throws NOT_FOUND for an order that is not there, hidden or of another customer, BUSINESS_RULE_VIOLATION for one that it does not settle.
     */
    create: (payment: NewPayment, visibility: Visibility): Promise<Payment> =>
      prisma.$transaction(async (transaction) => {
        const { orderId = null, amount, currency, customerId } = payment;
        const now = clock();
        if (orderId !== null) {
          const order = await lockOrder(transaction, orderId, { visibility });
          if (order.customerId !== customerId) throw fail('NOT_FOUND', 'There is no such order');
          checkSettles(payment, order);
          await transaction.order.update({ where: { id: orderId }, data: { status: 'PAID', updatedAt: now, version: { increment: 1 } } });
        }
        return transaction.payment.create({
          data: { id: createId('pay'), orderId, amount, currency, customerId, createdAt: now, updatedAt: now },
        });
      }),
  };
}
