/** The subscriptions to orders: a customer's own, and all of them for administrators (contract §3). */
import { type EventSelection, selectEvents } from '@trestle/chassis/events/outbox/event-selection';
import { requireCaller } from '@trestle/chassis/request/context';
import { visibilityOf } from '../access.ts';
import type { OrdersContext } from '../context.ts';
import type { SubscriptionOrderStatusChangedArgs } from '../generated/resolvers.ts';
import type { Order } from './rules.ts';

/** Selects the changes of one order, or of all that the caller may see. Throws NOT_FOUND or UNAUTHORIZED. */
export async function subscribeToStatusChanges(
  { orderId }: Partial<SubscriptionOrderStatusChangedArgs>,
  context: OrdersContext,
): Promise<EventSelection<'orderStatusChanged', Order>> {
  if (orderId != null) await context.loaders.order.need(orderId);
  const isAll = visibilityOf(context.caller).all;
  const where = orderId != null ? { subject: orderId } : isAll ? {} : { ownerId: requireCaller(context).userId };
  return selectEvents('orderStatusChanged', where);
}
