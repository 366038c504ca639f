/** What the resolvers of the content subgraph work with. */
import type { RequestContext } from '@trestle/chassis/context';
import type { ContentStores } from './content-store.ts';
import { type ContentLoaders, createContentLoaders } from './content-loaders.ts';

export interface ContentContext extends RequestContext {
  readonly stores: ContentStores;
  /** What this request has read so far, and reads in batches. */
  readonly loaders: ContentLoaders;
  /** Reads everything afresh from here on, because a mutation is about to change it. */
  readonly forget: () => void;
}

export function createContentContext(request: RequestContext, stores: ContentStores): ContentContext {
  let loaders = createContentLoaders(request.caller, stores);
  return {
    ...request,
    stores,
    get loaders() {
      return loaders;
    },
    forget() {
      loaders = createContentLoaders(request.caller, stores);
    },
  };
}
