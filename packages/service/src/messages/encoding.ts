/** Chooses and applies a content coding (RFC 9110 §8.4, §12.5.3). */
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import Negotiator from 'negotiator';

/** A content coding that {@link encode} applies. */
export type Encoding = 'br' | 'gzip' | 'identity';

/** Smaller contents are not compressed: they would hardly shrink. */
const MIN_BYTES = 1024;
/** Level 4 is as fast as gzip and compresses better. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };
const compressBrotli = promisify(brotliCompress);
const compressGzip = promisify(gzip);

/** In the order of preference when the client weighs several equally. `x-gzip` is the same coding as `gzip` (RFC 9110 §8.4.1.3). */
const CODINGS = ['br', 'gzip', 'x-gzip', 'identity'] as const;

/**
 * Returns the coding that the client prefers. Returns `identity` without the header, when no offered coding is acceptable, and for
 * fewer than 1024 bytes unless the client refuses `identity`.
 */
export function chooseEncoding(acceptEncoding: string | undefined, sizeBytes: number): Encoding {
  if (acceptEncoding === undefined) return 'identity';
  const isSmall = sizeBytes < MIN_BYTES;
  // Only a weight of 0 refuses `identity`. Most requests have none, and need no parsing.
  if (isSmall && !acceptEncoding.includes('q=0')) return 'identity';
  const accepted = new Negotiator({ headers: { 'accept-encoding': acceptEncoding } }).encodings(CODINGS, { preferred: CODINGS });
  const [preferred = 'identity'] = accepted;
  if (isSmall && accepted.includes('identity')) return 'identity';
  return preferred === 'x-gzip' ? 'gzip' : (preferred as Encoding);
}

/** Compressed contents by the buffer that they were made from: a document that is sent many times is compressed once. */
const compressedContents = new WeakMap<Buffer, Map<Encoding, Promise<Buffer>>>();

/** Compresses `bytes` off the event loop. Returns the same promise for the same buffer and coding. */
export function encode(bytes: Buffer, encoding: Encoding): Promise<Buffer> {
  const known = compressedContents.get(bytes) ?? new Map<Encoding, Promise<Buffer>>();
  compressedContents.set(bytes, known);
  const encoded = known.get(encoding) ?? compress(bytes, encoding);
  known.set(encoding, encoded);
  return encoded;
}

function compress(bytes: Buffer, encoding: Encoding): Promise<Buffer> {
  switch (encoding) {
    case 'br':
      return compressBrotli(bytes, BROTLI);
    case 'gzip':
      return compressGzip(bytes);
    case 'identity':
      return Promise.resolve(bytes);
  }
}

/**
 * Returns the entity tag of the encoded content, which has other bytes than the plain one (RFC 9110 §8.8.3.3): `"v3-abc"` becomes
 * `"v3-abc-br"`, and keeps the version that writes compare.
 */
export function toEncodedTag(etag: string, encoding: Encoding): string {
  return encoding === 'identity' ? etag : `${etag.slice(0, -1)}-${encoding}"`;
}
