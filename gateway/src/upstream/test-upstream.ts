/** For tests: an upstream with one subgraph, `Stock`, that is a real HTTP server. */
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import { type Http2Server, type Http2ServerRequest, type Http2ServerResponse, createServer as createHttp2Server } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { Cancellation } from '@trestle/service/process/cancellation';
import { Registry } from 'prom-client';
import { FetchLog } from '../request/fetch-log.ts';
import type { UpstreamContext, UpstreamRequest } from './upstream-target.ts';
import { Fixtures } from '@trestle/http-client/raw-server';
import { DEFAULT_TRAFFIC, type SubgraphTraffic, type UpstreamClientName } from './traffic/traffic-settings.ts';
import { type UpstreamOptions, type Upstreams, createUpstreams } from './upstream.ts';

const headers = ['content-type', 'application/json', 'x-request-id', 'r', 'authorization', 'Bearer t'];
const mutationHeaders = ['idempotency-key', 'k', 'idempotency-scope', 'POST /payments'];

/** Returns the context of a request with a credential and an Idempotency-Key. */
export const createContext = () => ({ headers, mutationHeaders, cancellation: new Cancellation(), fetchLog: new FetchLog() });

/** Resolves with the code and the message of a failed fetch; with undefined when it succeeds. */
export async function failure(fetched: Promise<unknown>): Promise<{ readonly code: string; readonly message: string } | undefined> {
  try {
    await fetched;
    return undefined;
  } catch (error) {
    const { code, message } = error as { code: string; message: string };
    return { message, code };
  }
}

/** Those of tests about connections, or about bytes. Tests of the client of HTTP/2 stand beside it. */
export const HTTP1_CLIENTS = ['lean', 'undici'] as const satisfies readonly UpstreamClientName[];

/** The objects of HTTP/2 are nearly compatible. */
function toHttp1(request: Http2ServerRequest, response: Http2ServerResponse): [IncomingMessage, ServerResponse] {
  request.headers.host = request.authority;
  const setHeader = response.setHeader.bind(response);
  Object.assign(response, {
    setHeader: (...header: Parameters<typeof setHeader>) => {
      setHeader(...header);
      return response;
    },
  });
  return [request as unknown as IncomingMessage, response as unknown as ServerResponse];
}

/** The servers and upstreams of a test. */
export class UpstreamFixture {
  readonly #client: UpstreamClientName;
  readonly #servers: { readonly server: Server | Http2Server; readonly sockets: Set<Socket> }[] = [];
  readonly #opened: Upstreams[] = [];
  readonly #fixtures = new Fixtures();

  constructor(client: UpstreamClientName) {
    this.#client = client;
  }

  /** Starts a server on a free port, or on this one. Resolves with its address. */
  async listen(handle: (request: IncomingMessage, response: ServerResponse) => void, port = 0): Promise<string> {
    const server =
      this.#client === 'http2'
        ? createHttp2Server((request, response) => {
            handle(...toHttp1(request, response));
          })
        : // Longer than any test: connections end by what is tested.
          createServer({ keepAliveTimeout: 60_000 }, handle);
    const sockets = new Set<Socket>();
    server.on('connection', (socket: Socket) => sockets.add(socket));
    this.#servers.push({ server, sockets });
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/graphql`;
  }

  /** Starts a server that answers each request with bytes of the test's choice. */
  async listenRaw(answer: (socket: Socket, body: string) => unknown): Promise<string> {
    const { origin } = await this.#fixtures.listen((socket, { body }) => answer(socket, body));
    return `${origin}/graphql`;
  }

  /** Opens the subgraph. A fetch takes at most 30 s unless the options say otherwise. */
  open(
    url: string,
    {
      limits,
      take,
      ...options
    }: Partial<UpstreamOptions> & Pick<UpstreamRequest, 'take'> & { readonly limits?: Partial<SubgraphTraffic> } = {},
  ) {
    const metrics = new Registry();
    const upstreams = createUpstreams({
      subscriptionUrls: new Map(),
      pingIntervalMs: 10_000,
      urls: new Map(),
      traffic: { all: { ...DEFAULT_TRAFFIC, client: this.#client, timeoutMs: 30_000, ...limits }, bySubgraph: new Map() },
      metrics,
      ...options,
    });
    this.#opened.push(upstreams);
    const upstream = upstreams.open('Stock', url);
    const fetch = (body: string, context: UpstreamContext = createContext(), isMutation = false) =>
      new Promise((resolve, reject) => {
        upstream.send({ body, isMutation, context, take }, (error, result) => {
          // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- a failure of `send` is no Error
          if (error) reject(error);
          else resolve(result);
        });
      });
    return { fetch, metrics };
  }

  async close(): Promise<void> {
    await Promise.all(this.#opened.splice(0).map((upstreams) => upstreams.close()));
    await this.#fixtures.close();
    for (const { server, sockets } of this.#servers.splice(0)) {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    }
  }
}
