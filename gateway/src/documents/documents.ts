/** Finds the text of a document that a client names instead of sending it: automatic persisted queries and trusted documents. */
import { createHash } from 'node:crypto';
import { Fault, fail } from '@trestle/schema/errors';
import type { Parameters } from '../request/parameters.ts';
import type { DocumentClient, TrustedDocuments } from './trusted.ts';

export interface Documents {
  /** Gives the text. Throws VALIDATION_ERROR, NOT_FOUND of a document that nobody knows, or FORBIDDEN for one that is not trusted. */
  resolve(parameters: Parameters, client: DocumentClient): string;
}

export interface DocumentOptions {
  readonly trusted: TrustedDocuments | undefined;
  /** Whether documents that are not in the manifest are refused. */
  readonly isTrustedOnly: boolean;
}

/** Clients tell by this code that the text has to be sent once more, with its hash. */
export class PersistedQueryNotFound extends Fault {
  constructor() {
    super('NOT_FOUND', 'PersistedQueryNotFound');
  }
}

const MAX_KEPT = 10_000;
const MAX_KEPT_BYTES = 32 * 1024 * 1024;
/** What a text takes besides its characters: its hash and its place. */
const ENTRY_BYTES = 256;

export function createDocuments({ trusted, isTrustedOnly }: DocumentOptions): Documents {
  const kept = new Map<string, string>();
  let bytes = 0;
  const keep = (hash: string, query: string) => {
    kept.set(hash, query);
    bytes += sizeOf(query);
    for (const [oldest, text] of kept) {
      if (kept.size <= MAX_KEPT && bytes <= MAX_KEPT_BYTES) break;
      kept.delete(oldest);
      bytes -= sizeOf(text);
    }
  };
  /** What was used last stands last, so that texts which nobody uses go first. */
  const find = (hash: string): string | undefined => {
    const text = kept.get(hash);
    if (text === undefined) return undefined;
    kept.delete(hash);
    kept.set(hash, text);
    return text;
  };
  return {
    resolve({ query, documentId, extensions }, client) {
      if (documentId !== undefined) {
        if (query !== undefined) throw fail('VALIDATION_ERROR', 'Send query or documentId, not both');
        const text = trusted?.find(documentId, client);
        if (text === undefined) throw fail('NOT_FOUND', 'No document has this documentId');
        return text;
      }
      const hash = readHash(extensions['persistedQuery']);
      if (hash !== undefined && query === undefined) {
        const text = trusted?.find(`sha256:${hash}`, client) ?? trusted?.find(hash, client) ?? (isTrustedOnly ? undefined : find(hash));
        if (text === undefined) throw new PersistedQueryNotFound();
        return text;
      }
      if (query === undefined) throw fail('VALIDATION_ERROR', 'The request has no query');
      if (isTrustedOnly && !trusted?.holds(query, client)) throw fail('FORBIDDEN', 'Only trusted documents are run here');
      if (hash !== undefined && !kept.has(hash)) {
        if (createHash('sha256').update(query).digest('hex') !== hash) throw fail('VALIDATION_ERROR', 'The hash is not that of the query');
        keep(hash, query);
      }
      return query;
    },
  };
}

/** Two bytes for each character. */
function sizeOf(text: string): number {
  return ENTRY_BYTES + 2 * text.length;
}

function readHash(extension: unknown): string | undefined {
  if (extension === undefined || extension === null) return undefined;
  const { version, sha256Hash } = extension as { version?: unknown; sha256Hash?: unknown };
  if (version !== 1) throw fail('VALIDATION_ERROR', 'extensions.persistedQuery.version must be 1');
  if (typeof sha256Hash !== 'string' || !/^[0-9a-f]{64}$/.test(sha256Hash))
    throw fail('VALIDATION_ERROR', 'extensions.persistedQuery.sha256Hash must be a SHA-256 in lower-case hexadecimal');
  return sha256Hash;
}
