/** A pool of buffers for results: a buffer returns to the pool when its result was sent. */
import { KeptBuffers } from '@trestle/service/process/kept-buffers';

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
const MAX_SIZE = 4 * 1024 * 1024;
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
  const kept = new KeptBuffers({ smallest: BUFFER_BYTES, largest: MAX_SIZE, maxBytes: MAX_POOLED_BYTES });
  return {
    maxBytes,
    take: (least = BUFFER_BYTES) => kept.take(least),
    give(buffer) {
      if (isOverwriting) buffer.fill(OVERWRITTEN);
      kept.give(buffer);
    },
    isPooled: (buffer) => kept.isKept(buffer),
  };
}
