/** Keeps parsed documents, so that those which the gateway sends again and again are parsed and validated once. Bounded by their length. */
import type { DocumentNode } from 'graphql';

export interface DocumentCache {
  get(key: string): Promise<DocumentNode | undefined>;
  set(key: string, document: DocumentNode): Promise<void>;
  delete(key: string): Promise<void>;
}

/**
 * A parsed document takes about a hundred bytes for each of its characters, which Apollo Server's own cache underestimates: 30 MiB by its count are
 * 250 MiB of heap.
 */
const MAX_CHARACTERS = 128 * 1024;
const MAX_DOCUMENT_CHARACTERS = 16 * 1024;

/** Forgets the document that was not asked for longest when all together have more than `maxCharacters`; a long one is not kept at all. */
export function createDocumentCache(maxCharacters = MAX_CHARACTERS, maxDocumentCharacters = MAX_DOCUMENT_CHARACTERS): DocumentCache {
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
        // A Map keeps the order of insertion: it goes to the end.
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
