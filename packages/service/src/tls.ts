/** HTTPS on a service's one port: HTTP/1.1 and HTTP/2 by ALPN; who speaks plain HTTP there is sent on (contract §4, spec §9). */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { createServer } from 'node:tls';
import { type Http2DoorOptions, createHttp2Door } from './http2.ts';
import { isLoopback } from './local-peer.ts';
import type { Probes } from './probes.ts';
import { HSTS, isSecure } from './refusals.ts';

export interface TlsCredentials {
  /** PEM: the certificate with those that vouch for it, and its key. */
  readonly cert: string;
  readonly key: string;
}

export interface TlsFront {
  /** Tells clients of HTTP/2 to send further requests elsewhere (GOAWAY). */
  readonly announce: () => void;
  /** Closes connections that wait for nothing. */
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
  const { headersTimeoutMs } = options.limits;
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
    announce: http2.announce,
    drain() {
      for (const socket of silent) socket.destroy();
      http2.drain();
    },
    cut() {
      for (const socket of open) socket.destroy();
    },
  };
}

/** For the requests of HTTP/1.1: those over TLS are handed on, others are redirected. On the machine itself probes need no TLS. */
export function requireTls(handle: Handle, { probes, redirect }: { probes: Probes; redirect: Handle }): Handle {
  const handleSecurely = withHsts(handle);
  return (request, response) => {
    const { socket } = request;
    if (isSecure(socket)) handleSecurely(request, response);
    else if (!isLoopback(socket) || !probes.answer(request, response)) redirect(request, response);
  };
}

function withHsts(handle: Handle): Handle {
  return (request, response) => {
    response.setHeader('Strict-Transport-Security', HSTS);
    handle(request, response);
  };
}
