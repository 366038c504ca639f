/** Buffers for answers, used again and again: what is written into them is gone as soon as it was sent. */

export interface BufferPool {
  take(): Buffer;
  give(buffer: Buffer): void;
  /** Whether a buffer is of a size that is kept. */
  isPooled(buffer: Buffer): boolean;
}

const SIZE = 64 * 1024;
const LARGEST = 1024 * 1024;
const MOST = 64;

export function createBufferPool(): BufferPool {
  const free: Buffer[] = [];
  const isPooled = ({ length }: Buffer) => length >= SIZE && length <= LARGEST;
  return {
    take: () => free.pop() ?? Buffer.allocUnsafeSlow(SIZE),
    give(buffer) {
      if (free.length < MOST && isPooled(buffer)) free.push(buffer);
    },
    isPooled,
  };
}
