/** Caches the texts of automatic persisted queries by their hash, bounded in number and in bytes. */
import { LRUCache } from 'lru-cache';

const MAX_QUERIES = 10_000;
const MAX_BYTES = 32 * 1024 * 1024;
/** The size of an entry without its text: the hash and its place in the cache. */
const ENTRY_BYTES = 256;
const BYTES_PER_CHARACTER = 2;

export type PersistedQueries = LRUCache<string, string>;

/** Creates an empty cache, which removes the least recently used texts beyond its bounds. */
export function createPersistedQueries(): PersistedQueries {
  return new LRUCache({
    max: MAX_QUERIES,
    maxSize: MAX_BYTES,
    sizeCalculation: (text) => ENTRY_BYTES + BYTES_PER_CHARACTER * text.length,
  });
}
