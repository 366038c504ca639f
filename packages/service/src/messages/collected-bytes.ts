/** The bytes of a body that arrives in chunks, in memory that follows from their number, however small the chunks are. */

/** How many chunks are kept before they become one. */
const MAX_CHUNKS = 128;

/**
 * Collects chunks. Each has an object of its own, which takes a hundred times the memory of a single byte, and refers to all that was read with it: a
 * client that sends a body byte by byte (chunks of HTTP/1.1, DATA frames of HTTP/2) would fill the memory with a few megabytes.
 */
export class CollectedBytes {
  readonly #whole: Buffer[] = [];
  #chunks: Buffer[] = [];

  add(chunk: Buffer): void {
    if (this.#chunks.push(chunk) < MAX_CHUNKS) return;
    this.#whole.push(Buffer.concat(this.#chunks));
    this.#chunks = [];
  }

  /** Returns all bytes so far. */
  toBuffer(): Buffer {
    return Buffer.concat([...this.#whole, ...this.#chunks]);
  }
}
