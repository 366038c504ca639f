/** Compresses the parts of one response so that a client can read each when it arrives (RFC 9110 §8.4). */
import type { Transform } from 'node:stream';
import { constants, createBrotliCompress, createGzip } from 'node:zlib';

/** Compresses one response. The bytes of each write are flushed at its end. */
export interface PartsEncoder {
  readonly encoding: 'br' | 'gzip';
  readonly stream: Transform;
}

/** Level 4 is as fast as gzip. The window of 256 KiB bounds the memory of one response to about 1 MiB; the default could take 4 MiB. */
const BROTLI = { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_LGWIN]: 18 };

/** Creates the encoder of a response. Destroy its stream when the response is closed. */
export function createPartsEncoder(encoding: PartsEncoder['encoding']): PartsEncoder {
  const stream =
    encoding === 'gzip'
      ? createGzip({ flush: constants.Z_SYNC_FLUSH })
      : createBrotliCompress({ flush: constants.BROTLI_OPERATION_FLUSH, params: BROTLI });
  return { encoding, stream };
}
