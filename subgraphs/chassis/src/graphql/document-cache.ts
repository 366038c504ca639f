/** Stores parsed documents that are valid, so that documents which the gateway sends repeatedly are parsed and validated once. Bounded by their length. */
import type { DocumentNode } from 'graphql';
import { LRUCache } from 'lru-cache';

/** The document store of Apollo Server. */
export interface DocumentCache {
  get(key: string): Promise<DocumentNode | undefined>;
  set(key: string, document: DocumentNode): Promise<void>;
  delete(key: string): Promise<void>;
}

/** Limits of the cache. */
export interface DocumentCacheLimits {
  /** The most characters of all documents together. */
  readonly maxCharacters: number;
  /** The most characters of one document; longer ones are not stored. */
  readonly maxDocumentCharacters: number;
}

/**
 * A parsed document takes about a hundred bytes for each of its characters, which Apollo Server's own cache underestimates: 30 MiB by its
 * count are 250 MiB of heap.
 */
const LIMITS: DocumentCacheLimits = { maxCharacters: 128 * 1024, maxDocumentCharacters: 16 * 1024 };

/** Creates the cache for valid documents. It removes the least recently used ones while all together exceed the limit. */
export function createDocumentCache(
  isValid: (document: DocumentNode) => boolean,
  { maxCharacters, maxDocumentCharacters } = LIMITS,
): DocumentCache {
  const documents = new LRUCache<string, DocumentNode>({
    maxSize: maxCharacters,
    maxEntrySize: maxDocumentCharacters,
    sizeCalculation: lengthOf,
  });
  return {
    get: (key) => Promise.resolve(documents.get(key)),
    set(key, document) {
      if (isValid(document)) documents.set(key, document);
      return Promise.resolve();
    },
    delete(key) {
      documents.delete(key);
      return Promise.resolve();
    },
  };
}

/** Returns the characters of the document's text. One without a text counts as too long to be stored. */
function lengthOf({ loc }: DocumentNode): number {
  return loc?.source.body.length ?? Number.MAX_SAFE_INTEGER;
}
