/** Content codings of request bodies (RFC 9110 §8.4). */
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import { fail } from '@trestle/schema/errors';

type Decode = typeof gunzipSync;

const DECODERS: ReadonlyMap<string, Decode> = new Map([
  ['br', brotliDecompressSync],
  ['deflate', inflateSync],
  ['gzip', gunzipSync],
  ['x-gzip', gunzipSync],
]);

/** `Accept-Encoding` of responses with the status 415 (RFC 9110 §15.5.16). */
export const ACCEPTED_CODINGS = 'br, gzip, deflate';

/** Returns the function that decodes bodies of this `Content-Encoding`; undefined for a body as it is. Throws UNSUPPORTED_MEDIA_TYPE. */
export function chooseDecoder(encoding: string | undefined): Decode | undefined {
  if (encoding === undefined || encoding === 'identity') return undefined;
  const decode = DECODERS.get(encoding.trim().toLowerCase());
  if (!decode) throw fail('UNSUPPORTED_MEDIA_TYPE', `The Content-Encoding is not supported. Use one of ${ACCEPTED_CODINGS}, or none.`);
  return decode;
}

/**
 * Returns the decoded body. It is decoded at once and not in another thread: bodies that wait for a thread would have no limit. Decoding stops at
 * `maxBytes`. Throws PAYLOAD_TOO_LARGE above that, and VALIDATION_ERROR for damaged contents.
 */
export function decode(encoded: Buffer, decoder: Decode, maxBytes: number): Buffer {
  try {
    return decoder(encoded, { maxOutputLength: maxBytes });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw failTooLarge(maxBytes);
    throw fail('VALIDATION_ERROR', 'The body is not encoded as its Content-Encoding says.');
  }
}

/** Returns PAYLOAD_TOO_LARGE for a body of more than `maxBytes`. */
export function failTooLarge(maxBytes: number): Error {
  return fail('PAYLOAD_TOO_LARGE', `The body exceeds the limit of ${String(maxBytes)} bytes.`);
}
