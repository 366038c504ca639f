/** Makes a video of an upload whose bytes are all stored: writes them as one file, and verifies it. */
import { recognizeMediaType } from '@trestle/chassis/uploads/media-type';
import type { FileStore, StoredFile } from '@trestle/files/file-store';
import { fail } from '@trestle/schema/errors';
import { VIDEO_FILES, VIDEO_TYPES } from '../video/rules.ts';
import type { VideoUpload } from './rules.ts';
import { type UploadParts, changed } from './upload-parts.ts';

const HEAD_BYTES = 4100;

/**
 * Completes an upload whose content the client has stored itself. Repeated, it resolves with the same video. Rejects with CONFLICT when parts were
 * sent, with BUSINESS_RULE_VIOLATION when the content is not stored yet, and as {@link completeUpload}.
 */
export async function completeDirectUpload(parts: UploadParts, upload: VideoUpload): Promise<string> {
  if (upload.videoId !== null) return upload.videoId;
  if (upload.offset > 0) throw changed();
  const { directKey } = upload;
  const stat = directKey === null ? undefined : await parts.files.stat(directKey);
  if (directKey !== null && stat?.size === upload.size) return completeUpload(parts, upload, [directKey]);
  // Another request that has completed the upload meanwhile has deleted the content.
  const current = await parts.stores.uploads.find(upload.id);
  if (current && current.videoId !== null) return current.videoId;
  throw fail('BUSINESS_RULE_VIOLATION', `The content is not stored: ${String(stat?.size ?? 0)} of ${String(upload.size)} bytes.`);
}

/**
 * Resolves with the id of the video. `lastKeys` are files behind the parts that rows name. When the content is not what was declared, the upload
 * is deleted: rejects with BUSINESS_RULE_VIOLATION for another size or SHA-256, and with UNSUPPORTED_MEDIA_TYPE. Rejects with CONFLICT when another
 * request has changed the upload meanwhile. When another request has completed it, resolves with its video.
 */
export async function completeUpload(parts: UploadParts, upload: VideoUpload, lastKeys: readonly string[]): Promise<string> {
  const { files, stores, createId } = parts;
  const keys = [...(await stores.uploads.findPartKeys(upload.id)), ...lastKeys];
  const head: Buffer[] = [];
  const stored = await files.put(VIDEO_FILES + createId('fil'), readAll(files, keys, head), { maxBytes: upload.size });
  const discard = (unused: readonly string[]) => Promise.all(unused.map((key) => files.delete(key)));
  const mediaType = await verify(upload, stored, Buffer.concat(head)).catch(async (error: unknown) => {
    // Of an upload that another request has completed, the parts are gone: what was read of them says nothing about its content.
    const isDeleted = await stores.uploads.delete({ id: upload.id, offset: upload.offset, videoId: null });
    await discard([stored.key, ...(isDeleted ? keys : lastKeys)]);
    throw isDeleted ? error : changed();
  });
  // When this fails, its result may be unknown, and the files are left to the sweep.
  const { videoId, isOwn } = await createVideo(parts, upload, { ...stored, mediaType });
  await discard(isOwn ? keys : [stored.key, ...lastKeys]);
  if (videoId === undefined) throw changed();
  return videoId;
}

interface Created {
  /** Undefined when the upload was deleted or continued meanwhile. */
  readonly videoId: string | undefined;
  /** Whether this call has created the video. */
  readonly isOwn: boolean;
}

function createVideo(
  { transact }: UploadParts,
  upload: VideoUpload,
  { key: fileKey, size, sha256, mediaType }: StoredFile & { readonly mediaType: string },
): Promise<Created> {
  return transact(async ({ uploads, videos }) => {
    const current = await uploads.lock(upload.id);
    if (current?.videoId !== null || current.offset !== upload.offset) return { videoId: current?.videoId ?? undefined, isOwn: false };
    const { ownerId, title } = upload;
    const { id } = await videos.create({ ownerId, title, fileKey, mediaType, size, sha256 });
    await uploads.finish(current, id);
    return { videoId: id, isOwn: true };
  });
}

/** Resolves with the media type. */
async function verify(declared: VideoUpload, { size, sha256 }: StoredFile, head: Buffer): Promise<string> {
  if (size !== declared.size) throw mismatch(`${String(size)} bytes`, `${String(declared.size)} bytes`);
  if (declared.sha256 !== null && sha256 !== declared.sha256) throw mismatch(`the SHA-256 ${sha256}`, declared.sha256);
  return recognizeMediaType({ head }, VIDEO_TYPES);
}

/** Yields the content of files one after the other, and keeps its first bytes in `head`. */
async function* readAll(files: Pick<FileStore, 'open'>, keys: readonly string[], head: Buffer[]): AsyncGenerator<Uint8Array> {
  let missing = HEAD_BYTES;
  for (const key of keys) {
    const content = await files.open(key);
    if (!content) throw changed();
    for await (const chunk of content as AsyncIterable<Buffer>) {
      if (missing > 0) head.push(Buffer.from(chunk.subarray(0, missing)));
      missing -= chunk.length;
      yield chunk;
    }
  }
}

function mismatch(found: string, declared: string): Error {
  return fail('BUSINESS_RULE_VIOLATION', `The content has ${found}; the upload declared ${declared}. Upload the file again.`);
}
