/** Resolves the document of a request, which is sent as text, as the hash of a persisted query, or as the id of a trusted document. */
import { createHash } from 'node:crypto';
import { Fault, fail } from '@trestle/schema/errors';
import type { ClientApplication } from '../request/operation.ts';
import type { Parameters } from '../request/parameters.ts';
import { createDocumentCache } from './document-cache.ts';
import type { RemoteDocuments } from './remote-documents.ts';
import type { TrustedDocuments } from './trusted.ts';
import type { RecordUnknown } from './unknown-documents.ts';

export interface Documents {
  /**
   * Returns the text of a document. Throws VALIDATION_ERROR for contradicting parameters, NOT_FOUND for an unknown id or hash, FORBIDDEN for a
   * document that is not trusted. Returns a promise for a document that must be looked up, which rejects with NOT_FOUND or SERVICE_UNAVAILABLE.
   */
  resolve(parameters: Parameters, client: ClientApplication): string | Promise<string>;
}

export interface DocumentOptions {
  /** Returns the trusted documents, which may change. */
  readonly readTrusted: () => TrustedDocuments | undefined;
  /** Has trusted documents for all clients, besides those. Default: none. */
  readonly remote?: Pick<RemoteDocuments, 'find'> | undefined;
  /** Whether documents that are not trusted are refused. */
  readonly isTrustedOnly: boolean;
  /** Whether texts of clients are kept by their hashes (automatic persisted queries). Default true. */
  readonly keepsTexts?: boolean;
  /** Whether trusted documents are refused too when they are sent as texts. Default false. */
  readonly needsId?: boolean;
  /** Records documents outside of the manifest. Default: nothing does. */
  readonly recordUnknown?: RecordUnknown | undefined;
}

/** The errors to which clients of Apollo's automatic persisted queries respond by sending the text, with its hash or from now on without. */
export class PersistedQueryFault extends Fault {
  constructor(message: 'PersistedQueryNotFound' | 'PersistedQueryNotSupported') {
    super('NOT_FOUND', message);
  }
}

/** Creates the resolver of documents, with a cache of persisted queries. */
export function createDocuments({
  readTrusted,
  remote,
  isTrustedOnly,
  keepsTexts = true,
  needsId = false,
  recordUnknown,
}: DocumentOptions): Documents {
  const persisted = createDocumentCache();
  const findByHash = (hash: string, client: ClientApplication) =>
    readTrusted()?.find(`sha256:${hash}`, client) ?? readTrusted()?.find(hash, client) ?? (isTrustedOnly ? undefined : persisted.get(hash));
  return {
    resolve({ query, documentId, extensions }, client) {
      if (documentId !== undefined) {
        if (query !== undefined) throw fail('VALIDATION_ERROR', 'Send either `query` or `documentId`, not both.');
        const text = readTrusted()?.find(documentId, client) ?? remote?.find(documentId);
        return text instanceof Promise ? text.then(requireFound) : requireFound(text);
      }
      const hash = readHash(extensions['persistedQuery']);
      if (query === undefined) {
        if (hash === undefined) throw fail('VALIDATION_ERROR', 'The request has no `query`.');
        const text = findByHash(hash, client);
        if (text === undefined) throw new PersistedQueryFault(keepsTexts ? 'PersistedQueryNotFound' : 'PersistedQueryNotSupported');
        if (recordUnknown && !readTrusted()?.has(text, client)) recordUnknown(text, 'executed');
        return text;
      }
      if ((isTrustedOnly || recordUnknown) && !readTrusted()?.has(query, client)) {
        recordUnknown?.(query, isTrustedOnly ? 'refused' : 'executed');
        if (isTrustedOnly) throw fail('FORBIDDEN', 'Only trusted documents are executed.');
      }
      if (needsId) throw fail('FORBIDDEN', 'Send the id of a trusted document in place of its text.');
      if (hash !== undefined && persisted.get(hash) !== query) {
        if (createHash('sha256').update(query).digest('hex') !== hash)
          throw fail('VALIDATION_ERROR', '`extensions.persistedQuery.sha256Hash` does not match `query`.');
        if (keepsTexts) persisted.set(hash, query);
      }
      return query;
    },
  };
}

function requireFound(text: string | undefined): string {
  if (text === undefined) throw fail('NOT_FOUND', 'No trusted document has this `documentId`.');
  return text;
}

function readHash(extension: unknown): string | undefined {
  if (extension === undefined || extension === null) return undefined;
  const { version, sha256Hash } = extension as { version?: unknown; sha256Hash?: unknown };
  if (version !== 1) throw fail('VALIDATION_ERROR', '`extensions.persistedQuery.version` must be 1.');
  if (typeof sha256Hash !== 'string' || !/^[0-9a-f]{64}$/.test(sha256Hash))
    throw fail('VALIDATION_ERROR', '`extensions.persistedQuery.sha256Hash` must be a SHA-256 hash in lower-case hexadecimal.');
  return sha256Hash;
}
