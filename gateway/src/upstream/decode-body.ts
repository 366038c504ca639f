/** Decompresses the body of a subgraph's response (RFC 9110 §8.4). */
import { brotliDecompress, gunzip } from 'node:zlib';
import type { ClientResponse } from '@trestle/http-client/upstream-client';

/** What a gateway with compression asks its subgraphs for. */
export const ACCEPT_ENCODING = ['accept-encoding', 'br, gzip'] as const;

const DECODERS: ReadonlyMap<string, typeof gunzip> = new Map([
  ['gzip', gunzip],
  ['x-gzip', gunzip],
  ['br', brotliDecompress],
]);

/** Returns whether the body is compressed, or encoded in another way. */
export function isEncoded(response: ClientResponse): boolean {
  const encoding = response.header('content-encoding');
  return encoding !== undefined && encoding !== 'identity';
}

/**
 * Decodes the body and calls back, later. The result is undefined when the encoding is unknown, the body is damaged, or it decodes to more than
 * `maxBytes`.
 */
export function decodeBody(response: ClientResponse, maxBytes: number, done: (body: Buffer | undefined) => void): void {
  const decode = DECODERS.get(response.header('content-encoding')?.trim().toLowerCase() ?? '');
  // The bytes are lent until this function returns.
  const encoded = Buffer.from(response.bytes.subarray(response.bodyStart, response.bodyEnd));
  if (decode) {
    decode(encoded, { maxOutputLength: maxBytes }, (error, decoded) => {
      done(error ? undefined : decoded);
    });
  } else setImmediate(done, undefined);
}
