/** The rows that events are about (contract §3), as they were at the time of the event: a row may have changed since. */
import { type Topics, loadByEntityId } from '@trestle/chassis/events/events';
import { ORDER_STATUSES, type Order } from './order/rules.ts';
import type { OrdersStores } from './stores.ts';

export function createTopics({ orders }: Pick<OrdersStores, 'orders'>): Topics {
  const load = loadByEntityId((ids) => orders.findByIds(ids, { filter: {}, visibility: { all: true } }));
  return {
    orderStatusChanged: async (events) => (await load(events)).map((order, i) => order && toOrderAt(order, events[i]?.data ?? {})),
  };
}

function toOrderAt(order: Order, { to, version, updatedAt }: Readonly<Record<string, unknown>>): Order {
  const status = ORDER_STATUSES.find((known) => known === to) ?? order.status;
  return { ...order, status, version: Number(version), updatedAt: new Date(String(updatedAt)) };
}
