/** Payments in PostgreSQL. */
import { type Sql, given, sql } from '@trestle/chassis/database/sql';
import type { Sorting } from '@trestle/chassis/paging/window';
import { notFound } from '@trestle/chassis/request/faults';
import { type StoreOptions, createRowStore } from '@trestle/chassis/stores/row-store';
import { type Visibility, whereVisible } from '../access.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import type { PaymentFilter, PaymentOrderField } from '../generated/resolvers.ts';
import { lockOrder } from '../order/store.ts';
import { type NewPayment, type Payment, checkSettles } from './rules.ts';

export const PAYMENT_SORTING: Sorting<PaymentOrderField> = {
  list: 'payments',
  columns: {
    ID: { column: 'id', type: 'text' },
    AMOUNT: { column: 'amount', type: 'int4' },
    CREATED_AT: { column: 'createdAt', type: 'timestamptz' },
  },
  default: { field: 'CREATED_AT', direction: 'DESC' },
};

/** The payments of a list: those that match the filter and that the caller may see. */
export interface PaymentScope {
  readonly filter: PaymentFilter;
  readonly visibility: Visibility;
}

export type PaymentStore = ReturnType<typeof createPaymentStore>;

export function createPaymentStore({ prisma, createId, clock }: StoreOptions<Prisma.TransactionClient>) {
  const rowsOf = (scope: PaymentScope) => ({ table: 'payments', where: conditionsOf(scope) });
  const rows = createRowStore<Payment, PaymentScope, PaymentOrderField>({ prisma, sorting: PAYMENT_SORTING, rowsOf });

  return {
    ...rows,

    findByOrders: (orderIds: readonly string[]): Promise<Payment[]> =>
      prisma.payment.findMany({ where: { orderId: { in: [...orderIds] } }, orderBy: [{ createdAt: 'desc' }, { id: 'desc' }] }),

    /**
     * Inserts the payment and, in the same transaction and under the order's row lock, marks the order as paid; a second payment finds it
     * paid. Throws NOT_FOUND for an order that does not exist, is hidden or of another customer, BUSINESS_RULE_VIOLATION for one that the
     * payment does not settle.
     */
    create: (payment: NewPayment, visibility: Visibility): Promise<Payment> =>
      prisma.$transaction(async (transaction) => {
        const { orderId = null, amount, currency, customerId } = payment;
        const now = clock();
        if (orderId !== null) {
          const order = await lockOrder(transaction, orderId, { visibility });
          if (order.customerId !== customerId) throw notFound('order', orderId);
          checkSettles(payment, order);
          await transaction.order.update({ where: { id: orderId }, data: { status: 'PAID', updatedAt: now, version: { increment: 1 } } });
        }
        return transaction.payment.create({
          data: { id: createId('pay'), orderId, amount, currency, customerId, createdAt: now, updatedAt: now },
        });
      }),
  };
}

function conditionsOf({ filter, visibility }: PaymentScope): Sql[] {
  return [
    ...whereVisible(visibility),
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
