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

/** What buffers in the pool are filled with in development and tests: no result contains it. */
const OVERWRITTEN = 0xfe;

export interface BufferPoolOptions {
  /** Whether buffers are overwritten when they are given back, so that a later use of them is noticed. Default false. */
  readonly isOverwriting?: boolean;
}

/** Creates a pool that keeps at most 16 MiB. `maxBytes` is the largest result that is written. */
export function createBufferPool(maxBytes: number, { isOverwriting = false }: BufferPoolOptions = {}): BufferPool {
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
      if (isOverwriting) buffer.fill(OVERWRITTEN);
      if (!isPooled(buffer) || pooled + buffer.length > MAX_POOLED_BYTES) return;
      pooled += buffer.length;
      free.push(buffer);
    },
    isPooled,
  };
}
