/** The fields of resumable uploads: rules first, then one write. */
import { requireCaller } from '@trestle/chassis/request/context';
import { notFound } from '@trestle/chassis/request/faults';
import type { MutationCall } from '@trestle/chassis/stores/idempotency';
import type { ContentContext } from '../context.ts';
import type { MutationCreateVideoUploadArgs } from '../generated/resolvers.ts';
import { type VideoUpload, parseNewUpload } from './rules.ts';

/** The longest time for which a signed address is valid. */
const DIRECT_SECONDS = 3600;

/** Returns the caller's own upload; null for that of another account. */
export function findVideoUpload(id: string, context: ContentContext): Promise<VideoUpload | null> {
  return context.stores.uploads.findOwn(id, requireCaller(context).userId);
}

/** Throws UNAUTHORIZED, VALIDATION_ERROR, PAYLOAD_TOO_LARGE, BUSINESS_RULE_VIOLATION or SERVICE_UNAVAILABLE. */
export async function createVideoUpload(
  args: MutationCreateVideoUploadArgs,
  context: ContentContext,
  info: MutationCall['info'],
): Promise<VideoUpload> {
  const { userId: ownerId } = requireCaller(context);
  const hasDirect = context.files.presignPut !== undefined;
  const upload = { ...parseNewUpload(args.input, context.uploadLimits), ownerId, hasDirect };
  return context.write({ args, info }, (stores) => stores.together(({ uploads }) => uploads.create(upload, context.uploadLimits)));
}

/** Returns the request by which the client stores the content itself. */
export async function signDirectUpload({ directKey, size, expiresAt }: VideoUpload, { files }: ContentContext) {
  if (directKey === null || !files.presignPut) return null;
  const left = Math.floor((expiresAt.getTime() - Date.now()) / 1000);
  const {
    method,
    url,
    headers,
    expiresAt: until,
  } = await files.presignPut(directKey, {
    size,
    expiresInSeconds: Math.max(1, Math.min(DIRECT_SECONDS, left)),
  });
  return { method, url, headers, expiresAt: until };
}

/** Throws UNAUTHORIZED or NOT_FOUND. */
export async function deleteVideoUpload(id: string, context: ContentContext): Promise<true> {
  const { userId: ownerId } = requireCaller(context);
  if (!(await context.stores.uploads.delete({ id, ownerId }))) throw notFound('upload', id);
  return true;
}
