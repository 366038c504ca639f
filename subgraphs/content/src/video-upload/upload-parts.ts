/** The vocabulary of resumable uploads. */
import type { TransactJobs } from '@trestle/chassis/jobs/job-work';
import type { CreateId } from '@trestle/chassis/values/ids';
import type { FileStore } from '@trestle/files/file-store';
import { fail } from '@trestle/schema/errors';
import type { ContentStores } from '../stores.ts';

/** What uploads are received with. */
export interface UploadParts {
  readonly files: FileStore;
  readonly stores: ContentStores;
  readonly transact: TransactJobs<ContentStores>;
  readonly createId: CreateId;
}

/** How far an upload is. */
export interface UploadProgress {
  readonly offset: number;
  /** Null until the upload is complete. */
  readonly videoId: string | null;
}

/** Returns the error of an upload that another request has continued, completed or deleted. */
export function changed(): Error {
  return fail('CONFLICT', 'Another request has changed the upload. Read its offset and go on from there.', { retryAfterSeconds: 1 });
}
