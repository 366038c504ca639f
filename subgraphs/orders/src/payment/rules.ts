/** The rules of payments (spec §2.6, contract §3). Pure: no database, no clock. */
import { type Caller, hasRole } from '@trestle/identity';
import { type FieldFault, fail, rejectFaults } from '@trestle/schema/errors';
import { ID_LENGTH } from '@trestle/schema/lengths';
import { checkCurrency } from '../product/currency.ts';
import type { Order } from '../order/rules.ts';

export interface Payment {
  readonly id: string;
  readonly customerId: string;
  readonly orderId: string | null;
  readonly amount: number;
  readonly currency: string;
  readonly status: 'SUCCEEDED' | 'REFUNDED';
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly version: number;
}

export interface NewPayment {
  readonly amount: number;
  readonly currency: string;
  readonly customerId: string;
  readonly orderId?: string | null;
}

/** Parses a new payment; its currency is converted to capitals. Throws VALIDATION_ERROR with every fault. */
export function parsePayment(input: NewPayment): NewPayment {
  const faults: FieldFault[] = [];
  if (input.amount < 1) faults.push({ field: 'amount', message: 'must be at least 1' });
  faults.push(...checkCurrency(input.currency));
  if (input.customerId === '' || input.customerId.length > ID_LENGTH.max || input.customerId.includes('\0'))
    faults.push({ field: 'customerId', message: 'must be the id of an account' });
  rejectFaults(faults);
  return { ...input, currency: input.currency.toUpperCase() };
}

/** Customers pay for themselves, administrators for anyone. Throws FORBIDDEN. */
export function allowPayment(caller: Caller, { customerId }: NewPayment): void {
  if (caller.userId !== customerId && !hasRole(caller, 'ADMIN'))
    throw fail('FORBIDDEN', 'Payments of another customer require the role ADMIN.');
}

/** Throws BUSINESS_RULE_VIOLATION unless the order is pending and the payment has its total and currency. */
export function checkSettles({ amount, currency }: NewPayment, order: Order): void {
  if (order.status !== 'PENDING') throw fail('BUSINESS_RULE_VIOLATION', `An order with the status ${order.status} cannot be paid.`);
  const details: FieldFault[] = [];
  if (amount !== order.total) details.push({ field: 'amount', message: `must be the total of the order, ${String(order.total)}` });
  if (currency !== order.currency) details.push({ field: 'currency', message: `must be the currency of the order, ${order.currency}` });
  if (details.length > 0) throw fail('BUSINESS_RULE_VIOLATION', 'The payment does not match the order.', { details });
}
