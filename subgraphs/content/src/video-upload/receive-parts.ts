/** Stores the bytes of an upload while they arrive, part by part, so that a lost connection or process costs at most one part. */
import { fail } from '@trestle/schema/errors';
import { completeUpload } from './complete-upload.ts';
import { UPLOAD_FILES, type VideoUpload } from './rules.ts';
import { createSegments } from './segments.ts';
import { type UploadParts, type UploadProgress, changed } from './upload-parts.ts';

/** Below the smallest part of a multipart upload to S3, so that each part is one request there. */
const PART_BYTES = 4 * 1024 * 1024;
/** A client that sends a few bytes with each request would make a file of each. */
const MAX_PARTS = 2000;

/**
 * Stores the bytes from the offset on, and completes the upload with the last one. Rejects with CONFLICT when another request has changed the
 * upload meanwhile, with PAYLOAD_TOO_LARGE for more bytes than were declared, and as {@link completeUpload}.
 */
export async function receiveParts(parts: UploadParts, upload: VideoUpload, body: AsyncIterable<Uint8Array>): Promise<UploadProgress> {
  const { files, stores, createId } = parts;
  const segments = createSegments(body);
  let { offset } = upload;
  for (let count = await stores.uploads.countParts(upload.id); await segments.hasMore(); count++) {
    if (count >= MAX_PARTS)
      throw fail('BUSINESS_RULE_VIOLATION', `The upload has ${String(MAX_PARTS)} parts, which is the limit. Begin again.`);
    const fileKey = UPLOAD_FILES + createId('fil');
    const length = Math.min(PART_BYTES, upload.size - offset);
    const { size } = await files.put(fileKey, segments.take(length), { maxBytes: length });
    if (offset + size === upload.size) {
      if (await segments.hasMore()) throw await refuse(parts, fileKey, surplus(upload.size));
      return { offset: upload.size, videoId: await completeUpload(parts, { ...upload, offset }, [fileKey]) };
    }
    const isAdded = await parts.transact(({ uploads }) => uploads.addPart({ uploadId: upload.id, start: offset, size, fileKey }));
    if (!isAdded) throw await refuse(parts, fileKey, changed());
    offset += size;
  }
  return { offset, videoId: upload.videoId };
}

/** Deletes a part that no row names, and returns the error. */
async function refuse({ files }: UploadParts, fileKey: string, error: Error): Promise<Error> {
  await files.delete(fileKey);
  return error;
}

function surplus(size: number): Error {
  return fail('PAYLOAD_TOO_LARGE', `The upload was declared to have ${String(size)} bytes; the request has more.`);
}
