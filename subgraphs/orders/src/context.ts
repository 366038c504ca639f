/** What the resolvers of the orders subgraph work with. */
import type { RequestContext } from '@trestle/chassis/context';
import type { OrderStore } from './order-store.ts';
import { type Visibility, visibilityOf } from './order.ts';
import { type OrdersLoaders, createOrdersLoaders } from './orders-loaders.ts';
import type { PaymentStore } from './payment-store.ts';
import type { ProductStore } from './product-store.ts';

export interface OrdersDependencies {
  readonly orders: OrderStore;
  readonly products: ProductStore;
  readonly payments: PaymentStore;
}

export interface OrdersContext extends RequestContext, OrdersDependencies {
  readonly visibility: Visibility;
  /** What this request has read so far, and reads in batches. */
  readonly loaders: OrdersLoaders;
  /** Reads everything afresh from here on, because a mutation has changed it. */
  readonly forget: () => void;
}

export function createOrdersContext(request: RequestContext, dependencies: OrdersDependencies): OrdersContext {
  const visibility = visibilityOf(request.caller);
  let loaders = createOrdersLoaders(dependencies, visibility);
  return {
    ...request,
    ...dependencies,
    visibility,
    get loaders() {
      return loaders;
    },
    forget() {
      loaders = createOrdersLoaders(dependencies, visibility);
    },
  };
}
