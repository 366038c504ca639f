/** Reads the manifest of trusted documents, which lists the documents that each client may execute. */
import { isObject } from '../request/json.ts';
import type { ClientApplication } from '../request/operation.ts';

export interface TrustedDocuments {
  /** Returns the text of a document that the client may execute; undefined for any other id. */
  find(id: string, client: ClientApplication): string | undefined;
  /** Returns whether a document is one of the client's documents. */
  has(query: string, client: ClientApplication): boolean;
  /** Returns the documents that the client may execute, each by its id. Of several with one id {@link find} returns the first. */
  list(client: ClientApplication): ReadonlyMap<string, string>;
  /** All documents, each text once. */
  readonly texts: ReadonlySet<string>;
  /** The manifest. */
  readonly source: string;
}

interface Client {
  readonly name: string | undefined;
  readonly version: string | undefined;
  readonly byId: ReadonlyMap<string, string>;
  readonly texts: ReadonlySet<string>;
}

/**
 * Parses `{"clients": [{"name": "web", "version": "1.2", "documents": {"<id>": "<text>"}}]}`. An entry without `name` or `version` is for every
 * client or version; a bare `{"<id>": "<text>"}` is for every client. Throws an Error for any other JSON.
 */
export function readTrustedDocuments(text: string): TrustedDocuments {
  const clients = readClients(JSON.parse(text));
  const matching = ({ name, version }: ClientApplication) =>
    clients.filter(
      (client) => (client.name === undefined || client.name === name) && (client.version === undefined || client.version === version),
    );
  return {
    find(id, client) {
      for (const { byId } of matching(client)) {
        const found = byId.get(id);
        if (found !== undefined) return found;
      }
      return undefined;
    },
    has: (query, client) => matching(client).some(({ texts }) => texts.has(query)),
    list: (client) =>
      new Map(
        matching(client)
          .toReversed()
          .flatMap(({ byId }) => [...byId]),
      ),
    source: text,
    texts: new Set(clients.flatMap(({ texts }) => [...texts])),
  };
}

function readClients(json: unknown): Client[] {
  if (!isObject(json)) throw new Error('must be a JSON object');
  const { clients } = json;
  if (clients === undefined) return [toClient({ documents: json })];
  if (!Array.isArray(clients)) throw new Error('clients must be a list');
  return clients.map((client: unknown) => {
    if (!isObject(client)) throw new Error('each client must be an object');
    return toClient(client);
  });
}

function toClient({ name, version, documents }: Readonly<Record<string, unknown>>): Client {
  if (!isObject(documents)) throw new Error('documents must be an object');
  const entries = Object.entries(documents).map(([id, text]): [string, string] => {
    if (typeof text !== 'string') throw new Error(`the document ${id} must be a string`);
    return [id, text];
  });
  return {
    name: readName(name, 'name'),
    version: readName(version, 'version'),
    byId: new Map(entries),
    texts: new Set(entries.map(([, text]) => text)),
  };
}

/** Throws for another type: documents of one client or version would be those of all. */
function readName(value: unknown, member: string): string | undefined {
  if (value === undefined || value === null || typeof value === 'string') return value ?? undefined;
  throw new Error(`the ${member} of a client must be a string`);
}
