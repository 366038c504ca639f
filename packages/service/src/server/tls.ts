/** Serves HTTPS on a service's port, by HTTP/1.1 and HTTP/2 as ALPN selects. Plain HTTP is redirected (contract §4, spec §9). */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { type TLSSocket, type TlsOptions, createServer } from 'node:tls';
import { type Http2Options, createHttp2Transport } from '../http2/http2.ts';
import { isLoopback } from '../clients/local-peer.ts';
import type { Probes } from '../probes/probes.ts';
import type { Edge } from '../edge/edge.ts';
import { HSTS, isSecure } from '../http1/refusals.ts';
import { addHeaders } from '../messages/response-headers.ts';

/** The certificate of a server, as PEM. */
export interface TlsCredentials {
  /** The certificate, followed by its intermediate certificates. */
  readonly cert: string;
  readonly key: string;
  /** Whose certificates clients present; without it they are asked for none. */
  readonly clients?: ClientCertificates | undefined;
}

/** What clients must present. A certificate that the authorities have not signed, or that has expired, is refused in any case. */
export interface ClientCertificates {
  /** The certificates of the authorities, as PEM. */
  readonly ca: string;
  /** Whether connections without a certificate are refused. Fixed at the start of the server. */
  readonly isRequired: boolean;
}

/** The connections that TLS has accepted. */
export interface TlsTransport {
  /** Asks clients of HTTP/2 to send further requests on another connection (GOAWAY). */
  readonly announce: () => void;
  /** Closes idle connections. */
  drain(): void;
  /** Closes all connections. */
  cut(): void;
  /** Uses other certificates for connections that are opened from now on. Open connections, and whether clients need certificates, stay as they are. */
  replace(credentials: TlsCredentials): void;
}

type Handle = Http2Options['handle'];

/** The first byte of a TLS connection (RFC 8446 §5.1). No HTTP request begins with it. */
const TLS_HANDSHAKE = 0x16;

/** Puts TLS before a server that does not listen yet. Decrypted connections of HTTP/1.1 go to the server's own listeners, upgrades included. */
export function serveTls(server: Server, { credentials, ...options }: Http2Options & { credentials: TlsCredentials }): TlsTransport {
  const listeners = server.listeners('connection') as ((socket: Socket) => void)[];
  server.removeAllListeners('connection');
  const serveHttp1 = (socket: Socket) => {
    for (const listener of listeners) listener.call(server, socket);
  };
  const http2 = createHttp2Transport({ ...options, handle: withHsts(options.handle) });
  const { headersTimeoutMs } = options.limits;
  const { clients } = credentials;
  const secure = createServer({ ...toServerOptions(credentials), handshakeTimeout: headersTimeoutMs });
  secure.on('secureConnection', (socket) => {
    if (clients && isForged(socket)) socket.destroy();
    else if (socket.alpnProtocol === 'h2') {
      // Sockets of an HTTP/1.1 server stay open when their client has ended its side. Nothing would notice the loss of a connection of HTTP/2.
      socket.allowHalfOpen = false;
      http2.accept(socket);
    } else serveHttp1(socket);
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
    replace(next) {
      secure.setSecureContext(toContextOptions(next));
    },
  };
}

function toServerOptions(credentials: TlsCredentials): TlsOptions {
  const { clients } = credentials;
  return {
    ...toContextOptions(credentials),
    ...(clients && { requestCert: true, rejectUnauthorized: clients.isRequired }),
    ALPNProtocols: ['h2', 'http/1.1'],
  };
}

function toContextOptions({ cert, key, clients }: TlsCredentials) {
  return { cert, key, ...(clients && { ca: clients.ca }) };
}

/** Returns whether a client that needs no certificate presents one that is not valid. */
function isForged(socket: TLSSocket): boolean {
  return !socket.authorized && socket.getPeerX509Certificate() !== undefined;
}

/** What {@link requireTls} needs besides the handler. */
export interface RequireTlsOptions {
  readonly probes: Probes;
  readonly redirect: Handle;
  /** Knows the proxies that may speak plain HTTP because they speak HTTPS with the client. */
  readonly edge?: Pick<Edge, 'proxies'> | undefined;
}

const HSTS_HEADERS = ['strict-transport-security', HSTS];

/** Returns a handler for HTTP/1.1 that passes on requests over TLS and redirects all others. Probes from the loopback interface need no TLS. */
export function requireTls(handle: Handle, { probes, redirect, edge }: RequireTlsOptions): Handle {
  const handleSecurely = withHsts(handle);
  return (request, response) => {
    const { socket } = request;
    if (isSecure(socket)) handleSecurely(request, response);
    else if (edge?.proxies.protocolOf(request) === 'https') handle(request, response);
    else if (!isLoopback(socket) || !probes.answer(request, response)) redirect(request, response);
  };
}

function withHsts(handle: Handle): Handle {
  return (request, response) => {
    addHeaders(response, HSTS_HEADERS);
    handle(request, response);
  };
}
