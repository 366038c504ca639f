/** The fields of resumable uploads: rules first, then one write. */
import { requireCaller } from '@trestle/chassis/request/context';
import { notFound } from '@trestle/chassis/request/faults';
import type { MutationCall } from '@trestle/chassis/stores/idempotency';
import type { ContentContext } from '../context.ts';
import type { MutationCreateVideoUploadArgs } from '../generated/resolvers.ts';
import { type VideoUpload, parseNewUpload } from './rules.ts';

/** The longest time for which a signed address is valid. */
const DIRECT_SECONDS = 3600;
/** For how long the same address is signed. */
const SIGNED_FOR_MS = (DIRECT_SECONDS / 2) * 1000;

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

/**
 * Returns the request by which the client stores the content itself. It stays the same for half an hour: the entity tag of the upload, which is that
 * of its representation, must not change with every read.
 */
export async function signDirectUpload({ directKey, size, createdAt, expiresAt }: VideoUpload, { files }: ContentContext) {
  if (directKey === null || !files.presignPut) return null;
  const age = Math.max(0, Date.now() - createdAt.getTime());
  const signedAt = new Date(createdAt.getTime() + age - (age % SIGNED_FOR_MS));
  const left = Math.floor((expiresAt.getTime() - signedAt.getTime()) / 1000);
  const expiresInSeconds = Math.max(1, Math.min(DIRECT_SECONDS, left));
  const { method, url, headers, expiresAt: until } = await files.presignPut(directKey, { size, signedAt, expiresInSeconds });
  return { method, url, headers, expiresAt: until };
}

/** Throws UNAUTHORIZED or NOT_FOUND. */
export async function deleteVideoUpload(id: string, context: ContentContext): Promise<true> {
  const { userId: ownerId } = requireCaller(context);
  if (!(await context.stores.uploads.delete({ id, ownerId }))) throw notFound('upload', id);
  return true;
}
