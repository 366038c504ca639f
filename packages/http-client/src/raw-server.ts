/** For tests: a TCP or TLS server that answers each request with whatever bytes a test chooses, and a client that turns callbacks into promises. */
import { type AddressInfo, type Server, type Socket, createServer } from 'node:net';
import { type TlsOptions as ServerTls, createServer as createTlsServer } from 'node:tls';
import type { ClientError, ClientResponse, UpstreamClient } from './upstream-client.ts';
import { type PoolOptions, createConnectionPool } from './connection-pool.ts';

/** A request as it arrived. */
export interface RawRequest {
  readonly head: string;
  readonly body: string;
  /** Counts the connections, from 0. */
  readonly connection: number;
  /** Counts the requests, from 0. */
  readonly index: number;
}

/** Answers a request with any bytes. */
export type Answer = (socket: Socket, request: RawRequest) => unknown;

/** A server that listens. */
export interface RawServer {
  readonly origin: string;
  readonly sockets: readonly Socket[];
  close(): Promise<void>;
}

/** Listens on a free port, and calls `answer` for each complete request. */
export async function listenRaw(answer: Answer, tls?: ServerTls): Promise<RawServer> {
  const sockets: Socket[] = [];
  let requests = 0;
  const serve = (socket: Socket) => {
    const connection = sockets.push(socket) - 1;
    let received = '';
    socket.setNoDelay(true).on('error', () => undefined);
    socket.on('data', (data: Buffer) => {
      received += data.toString('latin1');
      for (let taken = takeRequest(received); taken; taken = takeRequest(received)) {
        received = taken.rest;
        answer(socket, { head: taken.head, body: taken.body, connection, index: requests++ });
      }
    });
  };
  const server: Server = tls ? createTlsServer(tls, serve) : createServer(serve);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `${tls ? 'https://localhost' : 'http://127.0.0.1'}:${String(port)}`,
    sockets,
    close: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) =>
        server.close(() => {
          resolve();
        }),
      );
    },
  };
}

function takeRequest(text: string): { head: string; body: string; rest: string } | undefined {
  const headEnd = text.indexOf('\r\n\r\n') + 4;
  if (headEnd < 4) return undefined;
  const head = text.slice(0, headEnd);
  const end = headEnd + Number(/^content-length: (\d+)\r$/im.exec(head)?.[1]);
  return text.length < end ? undefined : { head, body: Buffer.from(text.slice(headEnd, end), 'latin1').toString(), rest: text.slice(end) };
}

/** Writes each part in a turn of the event loop of its own, so that the client reads one after the other. */
export async function writeParts(socket: Socket, parts: readonly Uint8Array[]): Promise<void> {
  for (const part of parts) {
    await new Promise((resolve) => socket.write(part, resolve));
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Limits that no test reaches by chance. */
export const OPTIONS: PoolOptions = { maxConnections: 8, connectTimeoutMs: 5000, timeoutMs: 30_000, maxResponseBytes: 1024 * 1024 };

/** What a client made of a response. */
export interface Received {
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/** Copies what a response lends. */
function copyResponse(response: ClientResponse): Received {
  return {
    status: response.status,
    body: response.bytes.toString('latin1', response.bodyStart, response.bodyEnd),
    headers: Object.fromEntries(['content-type', 'x-test', 'x-absent'].map((name) => [name, response.header(name)])),
  };
}

/** Sends a POST. Resolves to the response, rejects with the ClientError. */
export function post(client: UpstreamClient, body = '{}', headers: readonly string[] = []): Promise<Received> {
  return new Promise((resolve, reject) => {
    client.send(
      { path: '/graphql', headers, body },
      {
        onResponse: (response) => {
          resolve(copyResponse(response));
        },
        onFailure: reject,
      },
    );
  });
}

/** Sends a POST that must fail. Resolves to the code and the progress. */
export async function failPost(client: UpstreamClient, body?: string, headers?: readonly string[]): Promise<string> {
  try {
    const { status } = await post(client, body, headers);
    return `status ${String(status)}`;
  } catch (error) {
    const { code, progress } = error as ClientError;
    return `${code}, ${progress}`;
  }
}

/** Opens servers and clients, and closes them all. */
export class Fixtures {
  readonly #closers: (() => Promise<void>)[] = [];

  async listen(answer: Answer, tls?: ServerTls): Promise<RawServer> {
    const server = await listenRaw(answer, tls);
    this.#closers.push(() => server.close());
    return server;
  }

  connect(server: Pick<RawServer, 'origin'>, options: Partial<PoolOptions> = {}): UpstreamClient {
    const client = createConnectionPool(server.origin, { ...OPTIONS, ...options });
    this.#closers.push(() => client.close());
    return client;
  }

  /** Returns a client of a new server. */
  async serve(answer: Answer, options?: Partial<PoolOptions>): Promise<UpstreamClient> {
    return this.connect(await this.listen(answer), options);
  }

  async close(): Promise<void> {
    await Promise.all(this.#closers.splice(0).map((close) => close()));
  }
}

/** Resolves when the condition holds. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 1));
}

/** Writes a response with Content-Length. */
export function respond(body: string, fields = ''): string {
  return `HTTP/1.1 200 OK\r\n${fields}Content-Length: ${String(Buffer.byteLength(body))}\r\n\r\n${body}`;
}
