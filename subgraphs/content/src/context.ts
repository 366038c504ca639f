/** What the resolvers of the content subgraph work with. */
import type { RequestContext } from '@trestle/chassis/request/context';
import type { Idempotency, MutationCall } from '@trestle/chassis/stores/idempotency';
import type { ContentStores } from './content-store.ts';
import { type ContentLoaders, createContentLoaders } from './content-loaders.ts';

export interface ContentContext extends RequestContext {
  readonly stores: ContentStores;
  /** What this request has read so far, and reads in batches. */
  readonly loaders: ContentLoaders;
  /** Reads everything afresh from here on, because a mutation is about to change it. */
  readonly forget: () => void;
  /** Runs a write that makes something: once for an Idempotency-Key (spec §8). */
  readonly create: <Row>(call: MutationCall, write: (stores: ContentStores) => Promise<Row>) => Promise<Row>;
}

export function createContentContext(request: RequestContext, { stores, once }: Idempotency<ContentStores>): ContentContext {
  let loaders = createContentLoaders(request.caller, stores);
  return {
    ...request,
    stores,
    create: (call, write) => once(request, call, write),
    get loaders() {
      return loaders;
    },
    forget() {
      loaders = createContentLoaders(request.caller, stores);
    },
  };
}
