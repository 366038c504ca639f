/** Reads manifests of trusted documents, in the formats of the tools that write them. No I/O. */
import { isObject } from '../request/json.ts';

/** The documents of one client, or of all. */
export interface ManifestEntry {
  /** Undefined for every client. */
  readonly name: string | undefined;
  /** Undefined for every version. */
  readonly version: string | undefined;
  /** Texts by their ids. */
  readonly documents: ReadonlyMap<string, string>;
}

/** What @apollo/generate-persisted-query-manifest writes. */
const APOLLO_FORMAT = 'apollo-persisted-query-manifest';

/**
 * Returns the entries of a manifest: `{"<id>": "<text>"}`, which is for every client;
 * `{"clients": [{"name": "web", "version": "1.2", "documents": {"<id>": "<text>"}}]}`, where an entry without `name` or `version` is for every client
 * or version; or Apollo's `{"format", "version": 1, "operations": [{"id", "body", "clientName"}]}`. Throws an Error for anything else.
 */
export function readManifest(text: string): ManifestEntry[] {
  const json: unknown = JSON.parse(text);
  if (!isObject(json)) throw new Error('must be a JSON object');
  const { clients, format } = json;
  if (format === APOLLO_FORMAT) return readOperations(json);
  if (clients === undefined) return [{ name: undefined, version: undefined, documents: readDocuments(json) }];
  return readList(clients, 'clients').map((client) => {
    if (!isObject(client)) throw new Error('each client must be an object');
    const { name, version, documents } = client;
    return {
      name: readName(name, 'the name of a client'),
      version: readName(version, 'the version of a client'),
      documents: readDocuments(documents),
    };
  });
}

/** Returns an entry for each client that operations of Apollo's format name. */
function readOperations({ version, operations }: Readonly<Record<string, unknown>>): ManifestEntry[] {
  if (version !== 1) throw new Error(`version of ${APOLLO_FORMAT} must be 1`);
  const byClient = new Map<string | undefined, Map<string, string>>();
  for (const operation of readList(operations, 'operations')) {
    const { id, body, clientName } = isObject(operation) ? operation : {};
    if (typeof id !== 'string' || typeof body !== 'string') throw new Error('each operation must have `id` and `body`, which are strings');
    const name = readName(clientName, 'clientName of an operation');
    const documents = byClient.get(name) ?? new Map<string, string>();
    if ((documents.get(id) ?? body) !== body) throw new Error(`the id ${id} has two documents`);
    byClient.set(name, documents.set(id, body));
  }
  return [...byClient].map(([name, documents]) => ({ name, version: undefined, documents }));
}

function readDocuments(documents: unknown): ReadonlyMap<string, string> {
  if (!isObject(documents)) throw new Error('documents must be an object');
  return new Map(
    Object.entries(documents).map(([id, text]) => {
      if (typeof text !== 'string') throw new Error(`the document ${id} must be a string`);
      return [id, text];
    }),
  );
}

function readList(value: unknown, name: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new Error(`${name} must be a list`);
  return value;
}

/** Throws for another type: documents of one client or version would be those of all. */
function readName(value: unknown, what: string): string | undefined {
  if (value === undefined || value === null || typeof value === 'string') return value ?? undefined;
  throw new Error(`${what} must be a string`);
}
