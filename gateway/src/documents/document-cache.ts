/** Caches the texts of documents by their hashes or ids, bounded in number and in bytes. */
import { LRUCache } from 'lru-cache';

const MAX_DOCUMENTS = 10_000;
const MAX_BYTES = 32 * 1024 * 1024;
/** The size of an entry without its text and its key. */
const ENTRY_BYTES = 192;
const BYTES_PER_CHARACTER = 2;

export type DocumentCache = LRUCache<string, string>;

/** Creates an empty cache, which removes the least recently used texts beyond its bounds. */
export function createDocumentCache(): DocumentCache {
  return new LRUCache({
    max: MAX_DOCUMENTS,
    maxSize: MAX_BYTES,
    sizeCalculation: (text, key) => ENTRY_BYTES + key.length + BYTES_PER_CHARACTER * text.length,
  });
}
