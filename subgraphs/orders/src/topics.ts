/** The orders that events tell of (contract §3), as they were when it happened: a row may have moved on since. */
import { type Topics, loadByEntityId } from '@trestle/chassis/events/events';
import type { OrderStore } from './order-store.ts';
import { ORDER_STATUSES, type Order } from './order.ts';

export function createTopics({ findByIds }: Pick<OrderStore, 'findByIds'>): Topics {
  const load = loadByEntityId(findByIds);
  return {
    orderStatusChanged: async (events) => {
      const orders = await load(events);
      return orders.map((order, i) => order && asTold(order, events[i]?.data ?? {}));
    },
  };
}

function asTold(order: Order, { to, version, updatedAt }: Readonly<Record<string, unknown>>): Order {
  const status = ORDER_STATUSES.find((known) => known === to) ?? order.status;
  return { ...order, status, version: Number(version), updatedAt: new Date(String(updatedAt)) };
}
