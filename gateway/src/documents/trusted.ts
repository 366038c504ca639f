/** Finds trusted documents: those of a manifest, which lists what each client may execute. */
import type { ClientApplication } from '../request/operation.ts';
import { readManifest } from './read-manifest.ts';

export interface TrustedDocuments {
  /** Returns the text of a document that the client may execute; undefined for any other id. */
  find(id: string, client: ClientApplication): string | undefined;
  /** Returns whether a document is one of the client's documents. */
  has(query: string, client: ClientApplication): boolean;
  /** Returns the documents that the client may execute, each by its id. Of several with one id {@link find} returns the first. */
  list(client: ClientApplication): ReadonlyMap<string, string>;
  /** What of a client decides which documents it may execute. */
  readonly isBy: { readonly name: boolean; readonly version: boolean };
  /** All documents, each text once. */
  readonly texts: ReadonlySet<string>;
  /** The manifest. */
  readonly source: string;
}

/** Reads a manifest. Throws what {@link readManifest} throws. */
export function readTrustedDocuments(text: string): TrustedDocuments {
  const clients = readManifest(text).map((entry) => ({ ...entry, texts: new Set(entry.documents.values()) }));
  const matching = ({ name, version }: ClientApplication) =>
    clients.filter(
      (client) => (client.name === undefined || client.name === name) && (client.version === undefined || client.version === version),
    );
  return {
    find(id, client) {
      for (const { documents } of matching(client)) {
        const found = documents.get(id);
        if (found !== undefined) return found;
      }
      return undefined;
    },
    has: (query, client) => matching(client).some(({ texts }) => texts.has(query)),
    list: (client) =>
      new Map(
        matching(client)
          .toReversed()
          .flatMap(({ documents }) => [...documents]),
      ),
    isBy: { name: clients.some(({ name }) => name !== undefined), version: clients.some(({ version }) => version !== undefined) },
    source: text,
    texts: new Set(clients.flatMap(({ texts }) => [...texts])),
  };
}
