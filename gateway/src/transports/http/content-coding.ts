/** Decompresses the bodies of requests (RFC 9110 §8.4.1). */
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import { Fault, fail } from '@trestle/schema/errors';

/** Returns the decompressed body. Throws PAYLOAD_TOO_LARGE as soon as it exceeds `maxBytes`, and VALIDATION_ERROR for data that are not valid. */
export type Decode = (bytes: Buffer, maxBytes: number) => Buffer;

/** The refusal of a request whose body has another coding than those in `accepted`, the value of `Accept-Encoding` (RFC 9110 §12.5.3). */
export class UnsupportedCoding extends Fault {
  readonly accepted: string;

  constructor(message: string, accepted: string) {
    super('UNSUPPORTED_MEDIA_TYPE', message);
    this.accepted = accepted;
  }
}

/**
 * On the event loop, one body at a time: the memory of a decompression, which the sender chooses (up to 16 MiB for Brotli), exists once, and its time
 * counts for the client like that of parsing the JSON.
 */
const DECODERS: ReadonlyMap<string, Decode> = new Map([
  ['gzip', toDecode(gunzipSync, 'gzip')],
  // RFC 9110 §8.4.1.3
  ['x-gzip', toDecode(gunzipSync, 'gzip')],
  ['br', toDecode(brotliDecompressSync, 'br')],
  ['deflate', toDecode(inflateSync, 'deflate (RFC 1950)')],
]);

const ACCEPTED = 'gzip, br, deflate';

/**
 * Returns the decoder for a value of `Content-Encoding`; undefined for `identity`. Throws {@link UnsupportedCoding} for every other value, also for
 * several codings.
 */
export function chooseDecoder(contentEncoding: string): Decode | undefined {
  const coding = contentEncoding.toLowerCase();
  if (coding === 'identity') return undefined;
  const decode = DECODERS.get(coding);
  if (!decode) throw new UnsupportedCoding(`Content-Encoding must be one of ${ACCEPTED}, once; or send the body uncompressed.`, ACCEPTED);
  return decode;
}

function toDecode(decompress: (bytes: Buffer, options: { maxOutputLength: number }) => Buffer, name: string): Decode {
  return (bytes, maxBytes) => {
    try {
      return decompress(bytes, { maxOutputLength: maxBytes });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE')
        throw fail('PAYLOAD_TOO_LARGE', `The decompressed body exceeds the limit of ${String(maxBytes)} bytes.`, { cause: error });
      throw fail('VALIDATION_ERROR', `The body is not valid ${name}.`, { cause: error });
    }
  };
}
