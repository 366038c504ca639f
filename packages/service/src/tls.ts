/** HTTPS on a service's one port: HTTP/1.1 and HTTP/2 by ALPN; who speaks plain HTTP there is sent on (contract §4, spec §9). */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createServer } from 'node:tls';
import { type Http2DoorOptions, createHttp2Door } from './http2.ts';
import type { Probes } from './probes.ts';
import { HSTS, isSecure } from './refusals.ts';

export interface TlsCredentials {
  /** PEM: the certificate with those that vouch for it, and its key. */
  readonly cert: string;
  readonly key: string;
}

export interface TlsFront {
  /** Takes leave of clients whose connections wait for nothing. */
  drain(): void;
  /** Ends whatever is left. */
  cut(): void;
}

type Handle = Http2DoorOptions['handle'];

/** The first byte of a TLS connection (RFC 8446 §5.1); no HTTP request begins with it. */
const TLS_HANDSHAKE = 0x16;

/** Puts TLS before a server that does not listen yet; its own connections and upgrades go on as they did. */
export function serveTls(server: Server, { credentials, ...options }: Http2DoorOptions & { credentials: TlsCredentials }): TlsFront {
  const listeners = server.listeners('connection') as ((socket: Socket) => void)[];
  server.removeAllListeners('connection');
  const serveHttp1 = (socket: Socket) => {
    for (const listener of listeners) listener.call(server, socket);
  };
  const http2 = createHttp2Door({ ...options, handle: withHsts(options.handle) });
  const { headersTimeoutMs } = options;
  const secure = createServer({ ...credentials, ALPNProtocols: ['h2', 'http/1.1'], handshakeTimeout: headersTimeoutMs });
  secure.on('secureConnection', (socket) => {
    if (socket.alpnProtocol === 'h2') http2.accept(socket);
    else serveHttp1(socket);
  });
  secure.on('tlsClientError', (_, socket) => {
    socket.destroy();
  });

  const open = new Set<Socket>();
  const silent = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    silent.add(socket);
    const end = () => void socket.destroy();
    socket.once('close', () => {
      open.delete(socket);
      silent.delete(socket);
    });
    socket.on('error', end).on('end', end);
    socket.setTimeout(headersTimeoutMs, end);
    socket.once('data', (first: Buffer) => {
      silent.delete(socket);
      socket.setTimeout(0).off('timeout', end).off('error', end).off('end', end);
      socket.pause().unshift(first);
      if (first[0] === TLS_HANDSHAKE) secure.emit('connection', socket);
      else {
        serveHttp1(socket);
        process.nextTick(() => socket.resume());
      }
    });
  });
  return {
    drain() {
      for (const socket of silent) socket.destroy();
      http2.drain();
    },
    cut() {
      for (const socket of open) socket.destroy();
    },
  };
}

const LOOPBACK = /^(?:::ffff:)?127\.|^::1$/;

/** For the requests of HTTP/1.1: those over TLS are handed on, others are told where that is. On the machine itself probes need no TLS. */
export function requireTls(handle: Handle, probes: Probes): Handle {
  const handleSecurely = withHsts(handle);
  return (request, response) => {
    const { socket } = request;
    if (isSecure(socket)) handleSecurely(request, response);
    else if (!LOOPBACK.test(socket.remoteAddress ?? '') || !probes.answer(request, response)) redirect(request, response);
  };
}

function withHsts(handle: Handle): Handle {
  return (request, response) => {
    response.setHeader('Strict-Transport-Security', HSTS);
    handle(request, response);
  };
}

/** The same method and body again, at the same address (RFC 9110 §15.4.9). */
function redirect(request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(308, { location: toSecureUrl(request), 'content-length': '0', connection: 'close' }).end();
}

/** The same for who asks for a WebSocket without TLS. */
export function redirectUpgrade(request: IncomingMessage, socket: Duplex): void {
  socket.end(`HTTP/1.1 308 Permanent Redirect\r\nLocation: ${toSecureUrl(request)}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
}

function toSecureUrl({ url = '/', headers, socket }: IncomingMessage): string {
  const host = headers.host ?? `${String(socket.localAddress)}:${String(socket.localPort)}`;
  // A proxy's form of the target names a host before the path.
  const path = /^(?:https?:\/\/[^/?#]*)?(\/.*)?$/i.exec(url)?.[1] ?? '/';
  return `https://${host}${path}`;
}
