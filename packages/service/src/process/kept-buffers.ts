/**
 * Buffers that are kept to be used again. Memory of more than 128 KiB comes from the kernel and returns to it: each page of it that is written for the
 * first time costs more than the bytes that are written there.
 */

/** The sizes of the buffers that are kept: `smallest`, twice as much, and so on up to `largest`; and the bytes of all together. */
export interface KeptBuffersOptions {
  readonly smallest: number;
  readonly largest: number;
  readonly maxBytes: number;
}

/** Keeps buffers by their size. */
export class KeptBuffers {
  readonly #options: KeptBuffersOptions;
  /** One list for each size. */
  readonly #free: Buffer[][] = [];
  #bytes = 0;

  constructor(options: KeptBuffersOptions) {
    this.#options = options;
    for (let size = options.smallest; size <= options.largest; size *= 2) this.#free.push([]);
  }

  /** Returns a buffer of at least `least` bytes with unknown contents. One that is larger than all that are kept has exactly this size. */
  take(least: number): Buffer {
    const { smallest, largest } = this.#options;
    if (least > largest) return Buffer.allocUnsafeSlow(least);
    let size = smallest;
    let index = 0;
    for (; size < least; size *= 2) index++;
    const buffer = this.#free[index]?.pop();
    if (!buffer) return Buffer.allocUnsafeSlow(size);
    this.#bytes -= buffer.length;
    return buffer;
  }

  /** Keeps a buffer that nobody uses any more, unless it is too small or too large, or too many bytes are kept. */
  give(buffer: Buffer): void {
    const { length } = buffer;
    const { smallest, maxBytes } = this.#options;
    if (!this.isKept(buffer) || this.#bytes + length > maxBytes) return;
    let index = 0;
    for (let size = smallest * 2; size <= length; size *= 2) index++;
    this.#bytes += length;
    this.#free[index]?.push(buffer);
  }

  /** Returns whether a buffer has a size that can be kept. */
  isKept({ length }: Buffer): boolean {
    return length >= this.#options.smallest && length <= this.#options.largest;
  }
}
