/** Payments in PostgreSQL. */
import { type Sql, countRows, given, selectPage, sql } from '@trestle/chassis/paging/page-query';
import type { Sorting, Window } from '@trestle/chassis/paging/window';
import { fail } from '@trestle/schema/errors';
import type { PaymentFilter, PaymentOrderField } from './generated/resolvers.ts';
import type { Visibility } from './order.ts';
import { lockOrder, ofVisible } from './order-store.ts';
import { type NewPayment, type Payment, checkSettles } from './payment.ts';
import type { StoreDependencies } from './prisma-store.ts';

export const PAYMENT_SORTING: Sorting<PaymentOrderField> = {
  columns: {
    ID: { column: 'id', type: 'text' },
    AMOUNT: { column: 'amount', type: 'int4' },
    CREATED_AT: { column: 'createdAt', type: 'timestamptz' },
  },
  default: { field: 'CREATED_AT', direction: 'DESC' },
};

export interface PaymentListing {
  readonly filter: PaymentFilter;
  readonly visibility: Visibility;
}

export type PaymentStore = ReturnType<typeof createPaymentStore>;

export function createPaymentStore({ prisma, createId, clock }: StoreDependencies) {
  return {
    findByIds: (ids: readonly string[]): Promise<Payment[]> => prisma.payment.findMany({ where: { id: { in: [...ids] } } }),
    findByOrders: (orderIds: readonly string[]): Promise<Payment[]> =>
      prisma.payment.findMany({ where: { orderId: { in: [...orderIds] } }, orderBy: [{ createdAt: 'desc' }, { id: 'desc' }] }),

    list: (listing: PaymentListing, window: Window): Promise<Payment[]> =>
      prisma.$queryRaw<Payment[]>(selectPage({ table: 'payments', where: conditions(listing), window })),

    async count(listing: PaymentListing): Promise<number> {
      const [row] = await prisma.$queryRaw<{ count: number }[]>(countRows({ table: 'payments', where: conditions(listing) }));
      return row?.count ?? 0;
    },

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

function conditions({ filter, visibility }: PaymentListing): Sql[] {
  return [
    ...ofVisible(visibility),
    ...given(filter.status, (status) => sql`t."status" = ${status}::"PaymentStatus"`),
    ...given(filter.customerId, (customerId) => sql`t."customerId" = ${customerId}`),
    ...given(filter.orderId, (orderId) => sql`t."orderId" = ${orderId}`),
    ...given(filter.amount, (amount) => sql`t."amount" = ${amount}::int`),
    ...given(filter.amountGte, (amount) => sql`t."amount" >= ${amount}::int`),
    ...given(filter.amountLte, (amount) => sql`t."amount" <= ${amount}::int`),
    ...given(filter.createdAtGte, (time) => sql`t."createdAt" >= ${time}::timestamptz`),
    ...given(filter.createdAtLte, (time) => sql`t."createdAt" <= ${time}::timestamptz`),
  ];
}
