/** The manifest of trusted documents: what each client, by name and version, may run. */

/** Who asks, by the headers that Apollo's clients send. */
export interface DocumentClient {
  readonly name: string | undefined;
  readonly version: string | undefined;
}

export interface TrustedDocuments {
  find(id: string, client: DocumentClient): string | undefined;
  /** Whether this very text is one of the client's. */
  holds(query: string, client: DocumentClient): boolean;
}

interface Client {
  readonly name: string | undefined;
  readonly version: string | undefined;
  readonly byId: ReadonlyMap<string, string>;
  readonly texts: ReadonlySet<string>;
}

/**
 * Reads `{"clients": [{"name": "web", "version": "1.2", "documents": {"<id>": "<text>"}}]}`; without `name` or `version` an entry is for every
 * client or version. A bare `{"<id>": "<text>"}` is for everybody. Throws for any other JSON.
 */
export function readTrustedDocuments(text: string): TrustedDocuments {
  const clients = readClients(JSON.parse(text));
  const matching = ({ name, version }: DocumentClient) =>
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
    holds: (query, client) => matching(client).some(({ texts }) => texts.has(query)),
  };
}

function readClients(json: unknown): Client[] {
  if (!isMap(json)) throw new Error('must be a JSON object');
  const { clients } = json;
  if (clients === undefined) return [toClient({ documents: json })];
  if (!Array.isArray(clients)) throw new Error('clients must be a list');
  return clients.map((client: unknown) => {
    if (!isMap(client)) throw new Error('each client must be an object');
    return toClient(client);
  });
}

function toClient({ name, version, documents }: Readonly<Record<string, unknown>>): Client {
  if (!isMap(documents)) throw new Error('documents must be an object');
  const entries = Object.entries(documents).map(([id, text]): [string, string] => {
    if (typeof text !== 'string') throw new Error(`the document ${id} must be a string`);
    return [id, text];
  });
  return {
    name: typeof name === 'string' ? name : undefined,
    version: typeof version === 'string' ? version : undefined,
    byId: new Map(entries),
    texts: new Set(entries.map(([, text]) => text)),
  };
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
