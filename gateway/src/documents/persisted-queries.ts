/** Caches the texts of automatic persisted queries, bounded in number and in bytes. */

const MAX_QUERIES = 10_000;
const MAX_BYTES = 32 * 1024 * 1024;
/** An entry besides its text: the hash and its place in the map. */
const ENTRY_BYTES = 256;

export class PersistedQueries {
  /** The most recently used last: a Map keeps the order of insertion. */
  readonly #byHash = new Map<string, string>();
  #bytes = 0;

  has(hash: string): boolean {
    return this.#byHash.has(hash);
  }

  get(hash: string): string | undefined {
    const text = this.#byHash.get(hash);
    if (text === undefined) return undefined;
    this.#byHash.delete(hash);
    this.#byHash.set(hash, text);
    return text;
  }

  /** Adds a text that is not there, and removes the least recently used ones beyond the bounds. */
  set(hash: string, text: string): void {
    this.#byHash.set(hash, text);
    this.#bytes += sizeOf(text);
    for (const [oldest, old] of this.#byHash) {
      if (this.#byHash.size <= MAX_QUERIES && this.#bytes <= MAX_BYTES) break;
      this.#byHash.delete(oldest);
      this.#bytes -= sizeOf(old);
    }
  }
}

/** Two bytes for each character. */
function sizeOf(text: string): number {
  return ENTRY_BYTES + 2 * text.length;
}
