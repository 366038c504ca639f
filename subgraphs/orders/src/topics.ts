/** The rows that events are about (contract §3), as they were at the time of the event: a row may have changed since. */
import { type Topics, loadBySubject } from '@trestle/chassis/events/source-streams/topics';
import { ORDER_STATUSES, type Order } from './order/rules.ts';
import type { OrdersStores } from './stores.ts';

export function createTopics({ orders }: Pick<OrdersStores, 'orders'>): Topics {
  const load = loadBySubject((ids) => orders.findByIds(ids, { filter: {}, visibility: { all: true } }));
  return {
    orderStatusChanged: {
      types: ORDER_STATUSES.filter((status) => status !== 'PENDING').map((status) => `order.${status.toLowerCase()}`),
      load: async (events) => (await load(events)).map((order, i) => order && toOrderAt(order, events[i]?.data ?? {})),
    },
  };
}

function toOrderAt(order: Order, { status: reached, version, updatedAt }: Readonly<Record<string, unknown>>): Order {
  const status = ORDER_STATUSES.find((known) => known === reached) ?? order.status;
  return { ...order, status, version: Number(version), updatedAt: new Date(String(updatedAt)) };
}
