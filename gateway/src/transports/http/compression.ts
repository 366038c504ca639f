/** Compresses results for clients that accept it, while the process has room for it (RFC 9110 §8.4, §12.5.3). */
import { type Encoding, chooseEncoding, encode } from '@trestle/service/messages/encoding';
import { type PartsEncoder, createPartsEncoder } from '../delivery/parts-encoder.ts';

/** The compression of all responses of a process. */
export interface Compression {
  /**
   * Returns the coding for a result of that size: `identity` without `Accept-Encoding`, where compression is off, and while the limits of what is
   * compressed at once are reached, also for a client that refuses `identity`. Never throws.
   */
  choose(acceptEncoding: string | undefined, sizeBytes: number): Encoding;
  /** Compresses off the event loop. The bytes must not change meanwhile. */
  compress(bytes: Buffer, encoding: Encoding): Promise<Buffer>;
  /** Creates the encoder of a result in parts; undefined where {@link choose} would return `identity`, and while too many are open. */
  openParts(acceptEncoding: string | undefined): PartsEncoder | undefined;
}

/** What may be compressed at once. Each result is in memory twice meanwhile, and no other limit counts it before it is sent. */
export interface CompressionLimits {
  readonly maxResults: number;
  /** Of uncompressed results. A larger one is compressed alone. */
  readonly maxBytes: number;
  /** Of results in parts: each takes up to 1 MiB until its last part is sent. */
  readonly maxEncoders: number;
}

const LIMITS: CompressionLimits = { maxResults: 256, maxBytes: 32 * 1024 * 1024, maxEncoders: 64 };

/** Creates the compression of a process. */
export function createCompression(isOn: boolean, { maxResults, maxBytes, maxEncoders }: CompressionLimits = LIMITS): Compression {
  let results = 0;
  let pendingBytes = 0;
  let encoders = 0;
  const hasRoom = (sizeBytes: number) => results === 0 || (results < maxResults && pendingBytes + sizeBytes <= maxBytes);
  return {
    choose(acceptEncoding, sizeBytes) {
      if (acceptEncoding === undefined || !isOn || !hasRoom(sizeBytes)) return 'identity';
      return chooseEncoding(acceptEncoding, sizeBytes);
    },
    async compress(bytes, encoding) {
      results++;
      pendingBytes += bytes.length;
      try {
        return await encode(bytes, encoding);
      } finally {
        results--;
        pendingBytes -= bytes.length;
      }
    },
    openParts(acceptEncoding) {
      if (acceptEncoding === undefined || !isOn || encoders === maxEncoders) return undefined;
      // The size is not known before the last part.
      const encoding = chooseEncoding(acceptEncoding, Infinity);
      if (encoding === 'identity') return undefined;
      const encoder = createPartsEncoder(encoding);
      encoders++;
      encoder.stream.once('close', () => encoders--);
      return encoder;
    },
  };
}
