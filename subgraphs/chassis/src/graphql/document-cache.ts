/** Stores parsed documents, so that documents which the gateway sends repeatedly are parsed and validated once. Bounded by their length. */
import type { DocumentNode } from 'graphql';

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

/** Creates the cache. It removes the least recently used documents while all together exceed the limit. */
export function createDocumentCache({ maxCharacters, maxDocumentCharacters } = LIMITS): DocumentCache {
  const documents = new Map<string, DocumentNode>();
  let characters = 0;
  const remove = (key: string) => {
    const document = documents.get(key);
    if (document) characters -= lengthOf(document);
    documents.delete(key);
    return document;
  };
  return {
    get(key) {
      const document = remove(key);
      if (document) {
        // A Map keeps the order of insertion: the document goes to the end.
        documents.set(key, document);
        characters += lengthOf(document);
      }
      return Promise.resolve(document);
    },
    set(key, document) {
      remove(key);
      if (lengthOf(document) <= maxDocumentCharacters) {
        documents.set(key, document);
        characters += lengthOf(document);
      }
      for (const oldest of documents.keys()) {
        if (characters <= maxCharacters) break;
        remove(oldest);
      }
      return Promise.resolve();
    },
    delete(key) {
      remove(key);
      return Promise.resolve();
    },
  };
}

function lengthOf({ loc }: DocumentNode): number {
  return loc?.source.body.length ?? Infinity;
}
