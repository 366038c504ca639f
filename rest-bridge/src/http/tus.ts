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

/** Throws PRECONDITION_FAILED for another version of the protocol. */
export function requireTusVersion({ 'tus-resumable': version }: IncomingHttpHeaders): void {
  if (version !== undefined && version !== VERSION)
    throw fail('PRECONDITION_FAILED', `Tus-Resumable must be ${VERSION}, the version that the server supports.`);
}

/**
 * Returns a new upload as its headers describe it, for a client that sends `Upload-Length` or `Upload-Metadata`; undefined for any other. What is
 * missing or malformed is left for the check of the fields.
 */
export function readTusCreation(headers: IncomingHttpHeaders): object | undefined {
  const { 'upload-length': length, 'upload-metadata': metadata } = headers;
  if (length === undefined && metadata === undefined) return undefined;
  const { title, filename, sha256 } = parseMetadata(String(metadata ?? ''));
  const name = title ?? filename;
  return {
    ...(length !== undefined && { size: LENGTH.test(String(length)) ? Number(length) : length }),
    ...(name !== undefined && { title: name }),
    ...(sha256 !== undefined && { sha256 }),
  };
}

/** Parses `Upload-Metadata`: keys and values in base64. Throws VALIDATION_ERROR for one that is too long. */
function parseMetadata(header: string): Readonly<Record<string, string>> {
  if (header.length > MAX_METADATA_CHARACTERS)
    throw fail('VALIDATION_ERROR', `Upload-Metadata exceeds the limit of ${String(MAX_METADATA_CHARACTERS)} characters.`);
  return Object.fromEntries(
    header.split(',').map((pair) => {
      const [key = '', value = ''] = pair.trim().split(' ');
      return [key, Buffer.from(value, 'base64').toString('utf8')];
    }),
  );
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
