/** The rules of orders (contract §3). Pure: no database, no clock. */
import { fail } from '@trestle/schema/errors';

/** In the order in which an order passes through them. */
export const ORDER_STATUSES = ['PENDING', 'PAID', 'SHIPPED', 'DELIVERED', 'CANCELLED'] as const;
export type OrderStatus = (typeof ORDER_STATUSES)[number];

export interface Order {
  readonly id: string;
  readonly customerId: string;
  readonly status: OrderStatus;
  readonly total: number;
  readonly currency: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly version: number;
}

export interface OrderItem {
  readonly id: string;
  readonly orderId: string;
  readonly productId: number;
  readonly qty: number;
  readonly unitPrice: number;
  readonly total: number;
}

export interface Invoice {
  readonly id: string;
  readonly number: number;
  readonly orderId: string;
  readonly total: number;
  readonly currency: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly version: number;
}

/** The transitions from each status; all others are refused (contract §3). */
const STEPS = {
  PENDING: { advance: 'PAID', canCancel: true },
  PAID: { advance: 'SHIPPED', canCancel: true },
  SHIPPED: { advance: 'DELIVERED', canCancel: false },
  DELIVERED: { advance: null, canCancel: false },
  CANCELLED: { advance: null, canCancel: false },
} as const satisfies Record<OrderStatus, { advance: OrderStatus | null; canCancel: boolean }>;

/** An invoice is paid while its order has one of these statuses. */
const PAID_STATUSES: readonly OrderStatus[] = ['PAID', 'SHIPPED', 'DELIVERED'];

/** Returns whether the order, and so its invoice, is paid. */
export function isPaid({ status }: Pick<Order, 'status'>): boolean {
  return PAID_STATUSES.includes(status);
}

/** Throws BUSINESS_RULE_VIOLATION unless `to` is the next status. An administrator may mark an order as paid that was paid elsewhere. */
export function checkAdvance({ status }: Pick<Order, 'status'>, to: OrderStatus): void {
  if (STEPS[status].advance !== to) throw fail('BUSINESS_RULE_VIOLATION', `The status of the order cannot change from ${status} to ${to}.`);
}

/** Throws BUSINESS_RULE_VIOLATION for an order that is shipped, delivered or cancelled. */
export function checkCancel({ status }: Pick<Order, 'status'>): void {
  if (!STEPS[status].canCancel) throw fail('BUSINESS_RULE_VIOLATION', `An order with the status ${status} cannot be cancelled.`);
}
