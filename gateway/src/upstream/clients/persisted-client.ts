/** A client that sends the hash of a document in its place (automatic persisted queries), and the document when the subgraph does not know it. */
import { createHash } from 'node:crypto';
import type { Abortable } from '@trestle/service/process/cancellation';
import type { ClientError, ClientRequest, ClientResponse, ResponseHandler, UpstreamClient } from '@trestle/http-client/upstream-client';

/** How the body of a fetch begins. */
const BEFORE_DOCUMENT = '{"query":';
/** In UTF-16 code units: the longest document that is sent by its hash, and all documents whose hashes are kept. */
const MAX_DOCUMENT = 64 * 1024;
const MAX_DOCUMENTS = 4 * 1024 * 1024;
/** A response that asks for the document is short. */
const MAX_NOT_FOUND_BYTES = 4096;

/** Returns a client that sends by `client`. It sends whole documents once the subgraph has answered that it has no persisted queries. */
export function persistQueries(client: UpstreamClient): UpstreamClient {
  const hashes = new DocumentHashes();
  const support = { isRefused: false };
  return {
    send(request, handler) {
      const end = support.isRefused ? 0 : findDocumentEnd(request.body);
      if (end === 0) return client.send(request, handler);
      const persisted = new PersistedRequest({ client, support, request, handler });
      persisted.start(hashes.read(request.body.slice(BEFORE_DOCUMENT.length, end)), end);
      return persisted;
    },
    readCounts: () => client.readCounts(),
    retire: () => client.retire(),
    close: () => client.close(),
  };
}

/** The hashes of the documents that were sent, each computed once. The oldest ones are forgotten. */
class DocumentHashes {
  readonly #hashes = new Map<string, string>();
  #size = 0;

  /** `literal` is the document as a JSON string. */
  read(literal: string): string {
    const known = this.#hashes.get(literal);
    if (known !== undefined) return known;
    const hash = createHash('sha256')
      .update(JSON.parse(literal) as string)
      .digest('hex');
    this.#hashes.set(literal, hash);
    this.#size += literal.length;
    for (const oldest of this.#hashes.keys()) {
      if (this.#size <= MAX_DOCUMENTS) break;
      this.#hashes.delete(oldest);
      this.#size -= oldest.length;
    }
    return hash;
  }
}

/** Returns the index after the document; 0 for a body that does not begin with one, and for a long one. */
function findDocumentEnd(body: string): number {
  if (!body.startsWith('{"query":"')) return 0;
  for (let at = body.indexOf('"', BEFORE_DOCUMENT.length + 1); at > 0 && at < MAX_DOCUMENT; at = body.indexOf('"', at + 1)) {
    let escapes = 0;
    while (body[at - 1 - escapes] === '\\') escapes++;
    if (escapes % 2 === 0) return at + 1;
  }
  return 0;
}

interface PersistedOptions {
  readonly client: UpstreamClient;
  readonly support: { isRefused: boolean };
  readonly request: ClientRequest;
  readonly handler: ResponseHandler;
}

class PersistedRequest implements ResponseHandler, Abortable {
  readonly #options: PersistedOptions;
  #extensions = '';
  #sent: Abortable | undefined;
  #hasDocument = false;

  constructor(options: PersistedOptions) {
    this.#options = options;
  }

  /** Sends the hash. The document of the body ends at `end`. */
  start(hash: string, end: number): void {
    const { request } = this.#options;
    this.#extensions = `{"extensions":{"persistedQuery":{"version":1,"sha256Hash":"${hash}"}}`;
    const sent = this.#send(this.#extensions + request.body.slice(end));
    // A request that was answered at once has been sent again already.
    this.#sent ??= sent;
  }

  abort(reason: Error): void {
    this.#sent?.abort(reason);
  }

  onResponse(response: ClientResponse): void {
    const { support, request, handler } = this.#options;
    const refusal = this.#hasDocument ? undefined : findRefusal(response);
    if (refusal === undefined) {
      handler.onResponse(response);
      return;
    }
    this.#hasDocument = true;
    if (refusal === 'unsupported') support.isRefused = true;
    this.#sent = this.#send(refusal === 'unsupported' ? request.body : `${this.#extensions},${request.body.slice(1)}`);
  }

  onFailure(error: ClientError): void {
    this.#options.handler.onFailure(error);
  }

  #send(body: string): Abortable {
    const { client, request } = this.#options;
    return client.send({ ...request, body }, this);
  }
}

/** Returns why the subgraph executed nothing; undefined for every other response. Only a refused operation, even a mutation, may be sent again. */
function findRefusal({ bytes, bodyStart, bodyEnd }: ClientResponse): 'unknown' | 'unsupported' | undefined {
  if (bodyEnd - bodyStart > MAX_NOT_FOUND_BYTES) return undefined;
  const text = bytes.toString('utf8', bodyStart, bodyEnd);
  if (!/persisted_?query/i.test(text)) return undefined;
  const { data, errors } = parse(text);
  // What was executed has data, even if it is null.
  if (data !== undefined || !Array.isArray(errors)) return undefined;
  const [error] = errors as ({ message?: unknown; extensions?: { code?: unknown } | null } | null)[];
  const has = (message: string, code: string) => error?.message === message || error?.extensions?.code === code;
  if (has('PersistedQueryNotFound', 'PERSISTED_QUERY_NOT_FOUND')) return 'unknown';
  return has('PersistedQueryNotSupported', 'PERSISTED_QUERY_NOT_SUPPORTED') ? 'unsupported' : undefined;
}

function parse(text: string): { readonly data?: unknown; readonly errors?: unknown } {
  try {
    return (JSON.parse(text) as object | null) ?? {};
  } catch {
    return {};
  }
}
