/** A pool of buffers for results: a buffer returns to the pool when its result was sent. */

export interface BufferPool {
  /** The largest result, in bytes. */
  readonly maxBytes: number;
  /** Returns a buffer of at least `least` bytes. Default 64 KiB. */
  take(least?: number): Buffer;
  give(buffer: Buffer): void;
  /** Returns whether a buffer has a size that the pool keeps. */
  isPooled(buffer: Buffer): boolean;
}

/** The smallest buffer. */
export const BUFFER_BYTES = 64 * 1024;
const MAX_SIZE = 1024 * 1024;
/** Bytes of all buffers in the pool. */
const MAX_POOLED_BYTES = 16 * 1024 * 1024;

/** Creates a pool that keeps at most 16 MiB. `maxBytes` is the largest result that is written. */
export function createBufferPool(maxBytes: number): BufferPool {
  const free: Buffer[] = [];
  let pooled = 0;
  const isPooled = ({ length }: Buffer) => length >= BUFFER_BYTES && length <= MAX_SIZE;
  return {
    maxBytes,
    take(least = BUFFER_BYTES) {
      const index = free.findLastIndex(({ length }) => length >= least);
      const [buffer] = index < 0 ? [] : free.splice(index, 1);
      if (!buffer) return Buffer.allocUnsafeSlow(Math.max(BUFFER_BYTES, least));
      pooled -= buffer.length;
      return buffer;
    },
    give(buffer) {
      if (!isPooled(buffer) || pooled + buffer.length > MAX_POOLED_BYTES) return;
      pooled += buffer.length;
      free.push(buffer);
    },
    isPooled,
  };
}
