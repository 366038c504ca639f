/** What the resolvers of the orders subgraph work with. */
import type { RequestContext } from '@trestle/chassis/context';
import { type Visibility, visibilityOf } from './order.ts';
import { type OrdersLoaders, type OrdersStores, createOrdersLoaders } from './orders-loaders.ts';

export interface OrdersContext extends RequestContext, OrdersStores {
  readonly visibility: Visibility;
  /** What this request has read so far, and reads in batches. */
  readonly loaders: OrdersLoaders;
  /** Reads everything afresh from here on, because a mutation has changed it. */
  readonly forget: () => void;
}

export function createOrdersContext(request: RequestContext, stores: OrdersStores): OrdersContext {
  const visibility = visibilityOf(request.caller);
  let loaders = createOrdersLoaders(stores, visibility);
  return {
    ...request,
    ...stores,
    visibility,
    get loaders() {
      return loaders;
    },
    forget() {
      loaders = createOrdersLoaders(stores, visibility);
    },
  };
}
