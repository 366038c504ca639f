/** Buffers for answers, used again and again: what is written into them is gone as soon as it was sent. */

export interface BufferPool {
  /** The largest answer that is written, in bytes. */
  readonly maxBytes: number;
  take(): Buffer;
  give(buffer: Buffer): void;
  /** Whether a buffer is of a size that is kept. */
  isPooled(buffer: Buffer): boolean;
}

const SIZE = 64 * 1024;
const LARGEST = 1024 * 1024;
/** Bytes of all buffers that are kept. */
const MOST_BYTES = 16 * 1024 * 1024;

/** `maxBytes` is the largest answer that is written; the pool itself keeps 16 MiB at most. */
export function createBufferPool(maxBytes: number): BufferPool {
  const free: Buffer[] = [];
  let kept = 0;
  const isPooled = ({ length }: Buffer) => length >= SIZE && length <= LARGEST;
  return {
    maxBytes,
    take() {
      const buffer = free.pop();
      if (!buffer) return Buffer.allocUnsafeSlow(SIZE);
      kept -= buffer.length;
      return buffer;
    },
    give(buffer) {
      if (!isPooled(buffer) || kept + buffer.length > MOST_BYTES) return;
      kept += buffer.length;
      free.push(buffer);
    },
    isPooled,
  };
}
