/** What the resolvers of the orders subgraph work with. */
import type { RequestContext } from '@trestle/chassis/request/context';
import type { Idempotency, MutationCall } from '@trestle/chassis/stores/idempotency';
import { type Visibility, visibilityOf } from './order.ts';
import { type OrdersLoaders, createOrdersLoaders } from './orders-loaders.ts';
import type { OrdersStores } from './orders-stores.ts';

export interface OrdersContext extends RequestContext, OrdersStores {
  readonly visibility: Visibility;
  /** What this request has read so far, and reads in batches. */
  readonly loaders: OrdersLoaders;
  /** Runs a write, once for an Idempotency-Key; whatever is read from here on is read afresh, because the write has changed it. */
  readonly write: <Row>(call: MutationCall, work: (stores: OrdersStores) => Promise<Row>) => Promise<Row>;
}

export function createOrdersContext(request: RequestContext, { stores, once }: Idempotency<OrdersStores>): OrdersContext {
  const visibility = visibilityOf(request.caller);
  let loaders = createOrdersLoaders(stores, visibility);
  return {
    ...request,
    ...stores,
    visibility,
    get loaders() {
      return loaders;
    },
    async write(call, work) {
      const row = await once(request, call, work);
      loaders = createOrdersLoaders(stores, visibility);
      return row;
    },
  };
}
