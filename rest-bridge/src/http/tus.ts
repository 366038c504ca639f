/** The headers of tus 1.0 (https://tus.io/protocols/resumable-upload). No I/O. */
import type { IncomingHttpHeaders } from 'node:http';
import { fail } from '@trestle/schema/errors';
import type { ResponseHeaders } from './response.ts';

const VERSION = '1.0.0';

/** The media type of the bytes of an upload. */
export const PART_TYPE = 'application/offset+octet-stream';

/** Headers of every response of an upload. */
export const TUS_HEADERS: ResponseHeaders = {
  'tus-resumable': VERSION,
  'tus-version': VERSION,
  'tus-extension': 'creation,expiration,termination',
};

const MAX_METADATA_CHARACTERS = 4096;
const LENGTH = /^\d{1,15}$/;
/** Sizes are integers of 32 bits, which is far beyond the largest file. */
const MAX_LENGTH = 2 ** 31 - 1;
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
/** Values of other keys may be any bytes, and are ignored. */
const KEYS: readonly string[] = ['title', 'filename', 'sha256'];

/** Throws PRECONDITION_FAILED for another version of the protocol. */
export function requireTusVersion({ 'tus-resumable': version }: IncomingHttpHeaders): void {
  if (version !== undefined && version !== VERSION)
    throw fail('PRECONDITION_FAILED', `Tus-Resumable must be ${VERSION}, the version that the server supports.`);
}

/**
 * Returns a new upload as its headers describe it, for a client that sends `Upload-Length` or `Upload-Metadata`; undefined for any other. What is
 * missing or malformed is left for the check of the fields. Throws PAYLOAD_TOO_LARGE for a length beyond every limit, and VALIDATION_ERROR for
 * metadata that cannot be read.
 */
export function readTusCreation(headers: IncomingHttpHeaders): object | undefined {
  const { 'upload-length': length, 'upload-metadata': metadata } = headers;
  if (length === undefined && metadata === undefined) return undefined;
  const { title, filename, sha256 } = parseMetadata(String(metadata ?? ''));
  const name = title ?? filename;
  if (LENGTH.test(String(length)) && Number(length) > MAX_LENGTH)
    throw fail('PAYLOAD_TOO_LARGE', `The declared size exceeds the limit of ${String(MAX_LENGTH)} bytes.`);
  return {
    ...(length !== undefined && { size: LENGTH.test(String(length)) ? Number(length) : length }),
    ...(name !== undefined && { title: name }),
    ...(sha256 !== undefined && { sha256 }),
  };
}

/** Parses `Upload-Metadata`: keys and values in base64. Throws VALIDATION_ERROR for one that is too long, and for a value that is not UTF-8. */
function parseMetadata(header: string): Readonly<Record<string, string>> {
  if (header.length > MAX_METADATA_CHARACTERS)
    throw fail('VALIDATION_ERROR', `Upload-Metadata exceeds the limit of ${String(MAX_METADATA_CHARACTERS)} characters.`);
  return Object.fromEntries(
    header.split(',').flatMap((pair) => {
      const [key = '', value = ''] = pair.trim().split(' ');
      return KEYS.includes(key) ? [[key, decode(key, Buffer.from(value, 'base64'))]] : [];
    }),
  );
}

/** Other bytes would be stored as replacement characters, without an error. */
function decode(key: string, bytes: Buffer): string {
  try {
    return UTF8.decode(bytes);
  } catch {
    throw fail('VALIDATION_ERROR', 'The request is not valid', {
      details: [{ field: key, message: 'must be UTF-8 in base64' }],
    });
  }
}

/** Returns the offset at which a request continues an upload. Throws VALIDATION_ERROR without one. */
export function readUploadOffset({ 'upload-offset': offset }: IncomingHttpHeaders): number {
  if (typeof offset !== 'string' || !LENGTH.test(offset))
    throw fail('VALIDATION_ERROR', 'Upload-Offset must be the number of bytes that are stored already.');
  return Number(offset);
}

/** Returns the headers that say how far an upload is. `result` has what the resource needs. */
export function toUploadHeaders(result: unknown): ResponseHeaders {
  const { _need_offset: offset, _need_size: size, _need_expiresAt: expiresAt } = result as Readonly<Record<string, unknown>>;
  return {
    'upload-offset': String(offset),
    'upload-length': String(size),
    'upload-expires': new Date(String(expiresAt)).toUTCString(),
  };
}
