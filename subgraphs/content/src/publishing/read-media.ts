/** Reads what a video is by its content: its type, its duration, and a cover image that may be embedded in it. */
import type { FileStore } from '@trestle/files/file-store';
import { fail } from '@trestle/schema/errors';
import { fileTypeFromBuffer } from 'file-type';
import { parseStream } from 'music-metadata';
import { type MediaFile, readMp4Duration } from './read-mp4-duration.ts';
import { VIDEO_TYPES } from '../video/rules.ts';

/** An image. */
export interface Picture {
  readonly type: string;
  readonly bytes: Uint8Array;
}

/** What was read. */
export interface Media {
  readonly mediaType: string;
  /** In whole seconds, at least 1. */
  readonly durationSeconds: number;
  readonly cover: Picture | undefined;
}

/** The beginning of a file, by which its type is known. */
const HEAD_BYTES = 4100;
const MAX_COVER_BYTES = 256 * 1024;
const COVER_TYPES: ReadonlySet<string> = new Set(['image/jpeg', 'image/png']);

/**
 * Reads a file as a stream, so that its size does not matter. Rejects with BUSINESS_RULE_VIOLATION when it is no video, or has no duration, and
 * with the errors of the store.
 */
export async function readMedia(files: Pick<FileStore, 'open'>, { key, size }: MediaFile, signal: AbortSignal): Promise<Media> {
  const head = await readHead(files, { key, size });
  const found = await fileTypeFromBuffer(head).catch(() => undefined);
  const mediaType = VIDEO_TYPES.find((type) => type === found?.mime);
  if (!mediaType) throw fail('BUSINESS_RULE_VIOLATION', `The content of the video must be ${VIDEO_TYPES.join(', ')}.`);
  const stream = await files.open(key);
  if (!stream) throw missing();
  const destroy = () => stream.destroy();
  signal.addEventListener('abort', destroy, { once: true });
  // Parsers end at the first thing that they do not understand; a broken stream is the store's error, which a later attempt may not meet.
  let streamError: Error | undefined;
  stream.once('error', (error) => {
    streamError = error;
  });
  try {
    const { format, common } = await parseStream(stream, { mimeType: mediaType, size }, { duration: true });
    const duration = mediaType === 'video/webm' ? format.duration : await readMp4Duration(files, { key, size }, signal);
    if (!duration || !Number.isFinite(duration)) throw unreadable();
    const picture = common.picture?.find(({ format: type, data }) => COVER_TYPES.has(type) && data.length <= MAX_COVER_BYTES);
    const cover = picture && { type: picture.format, bytes: picture.data };
    return { mediaType, durationSeconds: Math.max(1, Math.round(duration)), cover };
  } catch (cause) {
    signal.throwIfAborted();
    if (streamError !== undefined) throw streamError;
    throw unreadable(cause);
  } finally {
    signal.removeEventListener('abort', destroy);
    stream.destroy();
  }
}

async function readHead(files: Pick<FileStore, 'open'>, { key, size }: MediaFile): Promise<Buffer> {
  const head = await files.open(key, { start: 0, end: Math.min(HEAD_BYTES, size) - 1 });
  if (!head) throw missing();
  const chunks: Buffer[] = [];
  for await (const chunk of head as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Returns the error of a video without content. */
export function missing(): Error {
  return fail('BUSINESS_RULE_VIOLATION', 'The video has no content. Upload the video again.');
}

/** Returns the error of content that cannot be read. */
export function unreadable(cause?: unknown): Error {
  return fail('BUSINESS_RULE_VIOLATION', 'The content of the video cannot be read: it is damaged or has no duration.', { cause });
}
