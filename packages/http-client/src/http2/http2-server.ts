/** For tests: servers of HTTP/2 whose answers a test chooses, and clients of them. */
import { once } from 'node:events';
import {
  type Http2Server,
  type IncomingHttpHeaders,
  type SecureServerOptions,
  type ServerHttp2Session,
  type ServerHttp2Stream,
  createSecureServer,
  createServer,
} from 'node:http2';
import { type AddressInfo, type ListenOptions, type Socket, connect, createServer as createTcpServer } from 'node:net';
import type { Readable } from 'node:stream';
import { OPTIONS } from '../raw-server.ts';
import type { UpstreamClient } from '../upstream-client.ts';
import { type Http2Options, createHttp2Client } from './http2-client.ts';

/** Answers a request, whose body has arrived. */
export type Http2Answer = (stream: ServerHttp2Stream, body: string, headers: IncomingHttpHeaders) => unknown;

/** A server that listens. */
export interface TestHttp2Server {
  readonly origin: string;
  /** The connections, in their order. */
  readonly sessions: readonly ServerHttp2Session[];
  close(): Promise<void>;
}

/** Listens on a free port, or where `at` says: with prior knowledge, or by TLS with the options that have a certificate. */
export async function listenHttp2(
  answer: Http2Answer,
  options: SecureServerOptions = {},
  at: ListenOptions = { port: 0, host: '127.0.0.1' },
): Promise<TestHttp2Server> {
  const server: Http2Server = options.cert === undefined ? createServer(options) : createSecureServer(options);
  const sessions: ServerHttp2Session[] = [];
  server.on('session', (session) => {
    sessions.push(session.on('error', () => undefined));
  });
  server.on('sessionError', () => undefined);
  server.on('stream', (stream, headers) => {
    const chunks: Buffer[] = [];
    stream.on('error', () => undefined);
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('end', () => answer(stream, Buffer.concat(chunks).toString(), headers));
  });
  server.listen(at);
  await once(server, 'listening');
  const address = server.address() as AddressInfo | string;
  const isTls = options.cert !== undefined;
  return {
    origin:
      typeof address === 'string' ? 'http://localhost' : `${isTls ? 'https://localhost' : 'http://127.0.0.1'}:${String(address.port)}`,
    sessions,
    close: () => {
      for (const session of sessions) session.destroy();
      return new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
      });
    },
  };
}

/** Answers with a body of JSON. */
export function reply(stream: ServerHttp2Stream, body: string): void {
  stream.respond({ ':status': 200, 'content-type': 'application/json' });
  stream.end(body);
}

/** Answers with the body of the request. */
export const echo: Http2Answer = (stream, body) => {
  reply(stream, body);
};
/** Answers with `ok`. */
export const answerOk: Http2Answer = (stream) => {
  reply(stream, 'ok');
};

/** Starts servers and clients, and closes them all. */
export class Http2Fixtures {
  readonly #closers: (() => Promise<unknown>)[] = [];

  connect(origin: string, options: Partial<Http2Options> = {}): UpstreamClient<string | Readable> {
    const client = createHttp2Client(origin, { ...OPTIONS, ...options });
    this.#closers.unshift(() => client.close());
    return client;
  }

  async listen(...parameters: Parameters<typeof listenHttp2>): Promise<TestHttp2Server> {
    const server = await listenHttp2(...parameters);
    this.#closers.push(() => server.close());
    return server;
  }

  /** Starts a server, and a client of it. */
  async serve(answer: Http2Answer, options: Partial<Http2Options> = {}, server?: SecureServerOptions) {
    const { origin, sessions } = await this.listen(answer, server);
    return { client: this.connect(origin, options), sessions, origin };
  }

  /** Listens by TCP. Resolves with the origin. */
  async listenTcp(serveSocket: (socket: Socket) => unknown): Promise<string> {
    const sockets: Socket[] = [];
    const server = createTcpServer((socket) => {
      sockets.push(socket.on('error', () => undefined));
      serveSocket(socket);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    this.#closers.push(() => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(resolve));
    });
    return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  }

  /** A server behind a relay that can stop to pass anything on, as when a machine is lost, or cut all connections. */
  async listenBehindRelay(answer: Http2Answer) {
    const server = await this.listen(answer);
    const accepted: Socket[] = [];
    const relayed: Socket[] = [];
    const origin = await this.listenTcp((socket) => {
      const onward = connect(Number(new URL(server.origin).port), '127.0.0.1').on('error', () => undefined);
      accepted.push(socket);
      relayed.push(onward);
      socket.pipe(onward).pipe(socket);
      socket.once('close', () => onward.destroy());
      onward.once('close', () => socket.destroy());
    });
    /** The client receives nothing any more. */
    const freeze = () => {
      for (const each of relayed) each.unpipe().pause();
    };
    /** The server receives nothing any more; what it sends is passed on. */
    const deafen = () => {
      for (const each of accepted) each.unpipe().pause();
    };
    const cut = () => {
      for (const each of relayed) each.destroy();
    };
    return { origin, freeze, deafen, cut, sessions: server.sessions };
  }

  async close(): Promise<void> {
    for (const close of this.#closers.splice(0)) await close();
  }
}
