/** The rules of orders (contract §3). Pure: no database, no clock. */
import { type Caller, hasRole } from '@trestle/identity';
import { fail } from '@trestle/schema/errors';

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

/** An account as this subgraph knows it: by its id. Named by resolver-types.json. @public */
export interface Customer {
  readonly id: string;
}

/** Where an order may go from where it stands. Anything else is refused. */
const STEPS = {
  PENDING: { advance: 'PAID', canCancel: true },
  PAID: { advance: 'SHIPPED', canCancel: true },
  SHIPPED: { advance: 'DELIVERED', canCancel: false },
  DELIVERED: { advance: null, canCancel: false },
  CANCELLED: { advance: null, canCancel: false },
} as const satisfies Record<OrderStatus, { advance: OrderStatus | null; canCancel: boolean }>;

/** An invoice counts as paid as long as its order does. */
const PAID_STATUSES: readonly OrderStatus[] = ['PAID', 'SHIPPED', 'DELIVERED'];

export function isPaid({ status }: Pick<Order, 'status'>): boolean {
  return PAID_STATUSES.includes(status);
}

/** Throws BUSINESS_RULE_VIOLATION unless `to` is the very next step. An administrator may mark an order paid that was paid elsewhere. */
export function checkAdvance({ status }: Pick<Order, 'status'>, to: OrderStatus): void {
  if (STEPS[status].advance !== to)
    throw fail('BUSINESS_RULE_VIOLATION', `An order that is ${status.toLowerCase()} can't become ${to.toLowerCase()}`);
}

/** Throws BUSINESS_RULE_VIOLATION for an order that is on its way, there, or cancelled. */
export function checkCancel({ status }: Pick<Order, 'status'>): void {
  if (!STEPS[status].canCancel) throw fail('BUSINESS_RULE_VIOLATION', `An order that is ${status.toLowerCase()} can't be cancelled`);
}

/** Whose orders a caller may know of: everybody's, one customer's, or nobody's. */
export type Visibility = { readonly all: true } | { readonly all: false; readonly customerId: string | null };

export function visibilityOf(caller: Caller | null): Visibility {
  return hasRole(caller, 'ADMIN') ? { all: true } : { all: false, customerId: caller?.userId ?? null };
}

/** Whether what belongs to a customer may be known to the caller. */
export function maySee(visibility: Visibility, customerId: string): boolean {
  return visibility.all || visibility.customerId === customerId;
}
