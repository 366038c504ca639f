/** The context of a request in a subgraph: the stores, and what the request has read from them. */
import type { RequestContext } from '../request/context.ts';
import type { Idempotency, MutationCall } from './idempotency.ts';

/** What the resolvers of every subgraph work with. */
export interface StoreContext<Stores, Loaders> extends RequestContext {
  readonly stores: Stores;
  /** Batched reads; each row is read once until `forgetReads` is called. */
  readonly loaders: Loaders;
  /** Runs a write; with an Idempotency-Key, once (spec §8). */
  readonly write: <Row>(call: MutationCall, work: (stores: Stores) => Promise<Row>) => Promise<Row>;
  readonly forgetReads: () => void;
}

/** What a context is created from. */
export interface StoreContextOptions<Stores, Loaders> {
  readonly idempotency: Idempotency<Stores>;
  readonly createLoaders: (stores: Stores, request: RequestContext) => Loaders;
}

/** Creates the context of a request. */
export function createStoreContext<Stores, Loaders>(
  request: RequestContext,
  { idempotency: { stores, once }, createLoaders }: StoreContextOptions<Stores, Loaders>,
): StoreContext<Stores, Loaders> {
  let loaders = createLoaders(stores, request);
  return {
    ...request,
    stores,
    get loaders() {
      return loaders;
    },
    write: (call, work) => once(request, call, work),
    forgetReads() {
      loaders = createLoaders(stores, request);
    },
  };
}
