/** Receives the callbacks of subgraphs, on a port of their own that operators keep from the public. */
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { Log } from '@trestle/log';
import { MAX_EVENT_BYTES } from '../subscription-upstream.ts';
import type { CallbackRegistry } from './callback-registry.ts';

const HEAD_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
const MAX_CONNECTIONS = 1024;
/** Bytes of bodies that are arriving, together. */
const MAX_ARRIVING_BYTES = 2 * MAX_EVENT_BYTES;
const JSON_TYPE = /^application\/json(?:;|$)/i;
/** With it the response to a `check` confirms the protocol. */
const HEADERS = { 'subscription-protocol': 'callback/1.0', 'content-length': '0' };

export interface CallbackServerOptions {
  readonly registry: CallbackRegistry;
  /** Before the id. */
  readonly path: string;
  readonly host: string;
  readonly port: number;
  readonly log: Log;
}

/** Listens. Rejects if the port is taken. The body of a request is read only if its path has the id of an open subscription. */
export async function serveCallbacks({ registry, path, host, port, log }: CallbackServerOptions): Promise<Server> {
  const prefix = `${path.replace(/\/$/, '')}/`;
  const reader = new BodyReader();
  const server = createServer({ headersTimeout: HEAD_TIMEOUT_MS, requestTimeout: REQUEST_TIMEOUT_MS }, (request, response) => {
    const { url = '/', method, headers } = request;
    const id = url.startsWith(prefix) ? url.slice(prefix.length) : '';
    if (!registry.has(id)) end(response, 404);
    else if (method !== 'POST') end(response, 405);
    else if (!JSON_TYPE.test(headers['content-type'] ?? '')) end(response, 415);
    else
      reader.read(request, (text) => {
        if (typeof text === 'number') end(response, text);
        else respond(response, { registry, id, text, log });
      });
  });
  server.maxConnections = MAX_CONNECTIONS;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return server;
}

interface Call {
  readonly registry: CallbackRegistry;
  readonly id: string;
  readonly text: string;
  readonly log: Log;
}

/** No message may end the process. */
function respond(response: ServerResponse, { registry, id, text, log }: Call): void {
  try {
    response.writeHead(registry.receive(id, text), HEADERS).end();
  } catch (error) {
    log.error('a callback of a subgraph failed', { error });
    end(response, 500);
  }
}

/** The rest of the request is not read. */
function end(response: ServerResponse, status: number): void {
  response.writeHead(status, { ...HEADERS, connection: 'close' }).end();
}

class BodyReader {
  #arriving = 0;

  /** Gives the text of the body, or the status with which the request is refused; nothing if the request is aborted. */
  read(request: IncomingMessage, done: (text: string | 413 | 503) => void): void {
    const chunks: Buffer[] = [];
    let length = 0;
    const settle = (result: string | 413 | 503) => {
      request.off('data', add).off('end', finish);
      chunks.length = 0;
      done(result);
    };
    const add = (chunk: Buffer) => {
      length += chunk.length;
      this.#arriving += chunk.length;
      chunks.push(chunk);
      if (length > MAX_EVENT_BYTES) settle(413);
      else if (this.#arriving > MAX_ARRIVING_BYTES) settle(503);
    };
    const finish = () => {
      settle(Buffer.concat(chunks).toString());
    };
    request
      .on('data', add)
      .once('end', finish)
      .on('error', () => undefined)
      .once('close', () => {
        this.#arriving -= length;
      });
  }
}
