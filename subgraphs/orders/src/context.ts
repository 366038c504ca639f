/** What the resolvers of the orders subgraph work with. */
import type { RequestContext } from '@trestle/chassis/request/context';
import { type StoreContext, createStoreContext } from '@trestle/chassis/stores/context';
import type { Idempotency } from '@trestle/chassis/stores/idempotency';
import { type OrdersLoaders, createOrdersLoaders } from './loaders.ts';
import type { OrdersStores } from './stores.ts';

export type OrdersContext = StoreContext<OrdersStores, OrdersLoaders>;

export function createOrdersContext(request: RequestContext, idempotency: Idempotency<OrdersStores>): OrdersContext {
  return createStoreContext(request, { idempotency, createLoaders: createOrdersLoaders });
}
