/** What the resolvers of the content subgraph work with. */
import type { RequestContext } from '@trestle/chassis/request/context';
import { type StoreContext, createStoreContext } from '@trestle/chassis/stores/context';
import type { Idempotency } from '@trestle/chassis/stores/idempotency';
import { type ContentLoaders, createContentLoaders } from './loaders.ts';
import type { ContentStores } from './stores.ts';

export type ContentContext = StoreContext<ContentStores, ContentLoaders>;

export function createContentContext(request: RequestContext, idempotency: Idempotency<ContentStores>): ContentContext {
  return createStoreContext(request, { idempotency, createLoaders: createContentLoaders });
}
