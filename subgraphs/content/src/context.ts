/** What the resolvers of the content subgraph work with. */
import type { JobControl } from '@trestle/chassis/jobs/job-control';
import type { RequestContext } from '@trestle/chassis/request/context';
import type { FileStore } from '@trestle/files/file-store';
import { type StoreContext, createStoreContext } from '@trestle/chassis/stores/context';
import type { Idempotency } from '@trestle/chassis/stores/idempotency';
import { type ContentLoaders, createContentLoaders } from './loaders.ts';
import type { ContentStores } from './stores.ts';
import type { UploadLimits } from './video-upload/rules.ts';

export interface ContentDependencies {
  /** Where videos and posters are. */
  readonly files: Pick<FileStore, 'open' | 'presignPut'>;
  readonly jobControl: JobControl<ContentStores>;
  readonly uploadLimits: UploadLimits;
}

export type ContentContext = StoreContext<ContentStores, ContentLoaders> & ContentDependencies;

export function createContentContext(
  request: RequestContext,
  idempotency: Idempotency<ContentStores>,
  dependencies: ContentDependencies,
): ContentContext {
  return Object.assign(createStoreContext(request, { idempotency, createLoaders: createContentLoaders }), dependencies);
}
