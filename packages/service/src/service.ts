/** Starts an HTTP process, says when it listens, and stops it without cutting off a request in hand. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Log } from '@trestle/log';
import type { Probes } from './probes.ts';
import { type Door, isSecure, keepDoor } from './refusals.ts';
import { type TlsCredentials, redirectUpgrade, requireTls, serveTls } from './tls.ts';
import { WebSocketRequest } from './web-socket-request.ts';

/** How long requests in hand may take once the process was told to stop. */
const DRAIN_MS = 5000;
const IDLE_SWEEP_MS = 50;
/** How long everything may take from then on, unless it is told otherwise; `npm start` gives its processes 10 s. */
const STOP_LIMIT_MS = 8000;

export interface ServiceOptions {
  readonly log: Log;
  readonly port: number;
  readonly host: string;
  readonly probes: Probes;
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void;
  /** Gets the requests that ask for a WebSocket, with a connection that is its own from then on; without it they are requests like any other. */
  readonly upgrade?: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  /** Largest size of all headers together, in bytes (contract §6). */
  readonly maxHeaderBytes?: number;
  /** How long a client may take to send its headers, and the whole of its request; slower ones get 408. */
  readonly headersTimeoutMs?: number;
  readonly requestTimeoutMs?: number;
  /** How long a connection is kept without a request. */
  readonly keepAliveTimeoutMs?: number;
  /** How long requests in hand may take once the process was told to stop. */
  readonly drainMs?: number;
  /** The process's own envelope for what no handler sees; without it that of spec §7.1. */
  readonly toRefusalAnswer?: Door['toRefusalAnswer'];
  /** With them the port speaks HTTPS, by HTTP/1.1 and HTTP/2, and sends plain HTTP there. */
  readonly tls?: TlsCredentials | undefined;
}

export interface Service {
  readonly port: number;
  /** Takes no more connections, lets requests in hand finish for at most 5 s, then closes what is left, upgraded connections too. */
  stop(): Promise<void>;
}

/** Listens, and answers probes before anything else. Rejects if the port is taken; the log line `listening` names the port. */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { log, port, host, drainMs = DRAIN_MS } = options;
  const { server, drain, cut: cutAll } = createHttpServer(options);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const address = server.address() as AddressInfo;
  log.info('listening', { port: address.port });
  return {
    port: address.port,
    stop: () =>
      new Promise((resolve) => {
        drain();
        const cut = setTimeout(() => {
          cutAll();
        }, drainMs);
        // Those whose request was in hand are idle only later.
        const sweep = setInterval(() => {
          server.closeIdleConnections();
        }, IDLE_SWEEP_MS);
        server.close(() => {
          clearTimeout(cut);
          clearInterval(sweep);
          resolve();
        });
        server.closeIdleConnections();
      }),
  };
}

function createHttpServer({
  log,
  probes,
  handle,
  upgrade,
  toRefusalAnswer,
  maxHeaderBytes = 16 * 1024,
  headersTimeoutMs = 10_000,
  requestTimeoutMs = 60_000,
  keepAliveTimeoutMs = 5000,
  tls,
}: ServiceOptions) {
  const server = createServer({
    maxHeaderSize: maxHeaderBytes,
    headersTimeout: headersTimeoutMs,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    // How late a timeout may be noticed.
    connectionsCheckingInterval: Math.min(1000, headersTimeoutMs),
    // Else Node answers for itself, without a body.
    requireHostHeader: false,
    ...(upgrade && { IncomingMessage: WebSocketRequest }),
  });
  // Else Node drops headers beyond the thousandth in silence, a second credential among them; their size is limited anyway.
  server.maxHeadersCount = 0;
  let isDraining = false;
  const receive: Door['handle'] = (request, response) => {
    // A connection that is kept busy would else outlive the process's last request.
    if (isDraining) response.shouldKeepAlive = false;
    if (!probes.answer(request, response)) handle(request, response);
  };
  const upgraded = new Set<Duplex>();
  const keepUpgraded: Door['upgrade'] = (request, socket, head) => {
    if (isDraining) {
      socket.destroy();
      return;
    }
    if (tls && !isSecure(socket)) {
      redirectUpgrade(request, socket);
      return;
    }
    upgraded.add(socket);
    socket.once('close', () => upgraded.delete(socket));
    upgrade?.(request, socket, head);
  };
  keepDoor(server, {
    log,
    toRefusalAnswer,
    handle: tls ? requireTls(receive, probes) : receive,
    ...(upgrade && { upgrade: keepUpgraded }),
  });
  const timeouts = { headersTimeoutMs, requestTimeoutMs, keepAliveTimeoutMs };
  const front = tls && serveTls(server, { credentials: tls, log, toRefusalAnswer, handle: receive, maxHeaderBytes, ...timeouts });
  const drain = () => {
    isDraining = true;
    front?.drain();
  };
  const cut = () => {
    server.closeAllConnections();
    for (const socket of upgraded) socket.destroy();
    front?.cut();
  };
  return { server, drain, cut };
}

/**
 * Runs a process from its `main.ts`: `start` gives what stops it again. SIGTERM, SIGINT and the end of the parent that
 * spawned it with a channel all stop it once and in order. A start that fails is logged and ends the process with 1.
 */
export async function runProcess(
  log: Log,
  start: () => Promise<() => Promise<void>>,
  { stopLimitMs = STOP_LIMIT_MS }: { readonly stopLimitMs?: number } = {},
): Promise<void> {
  // A parent that ends while we start must not leave us behind; nothing is in hand yet. (Without a parent's channel it is undefined.)
  const endEarly = () => process.exit(1);
  if ((process.connected as boolean | undefined) === false) endEarly();
  process.on('disconnect', endEarly);
  try {
    const stop = await start();
    process.off('disconnect', endEarly);
    let stopping = false;
    const end = (signal: string) => {
      if (stopping) return;
      stopping = true;
      log.info('stopping', { signal });
      // Whatever hangs on the way down, the log included, a process that was told to stop is gone in time.
      setTimeout(() => process.exit(1), stopLimitMs);
      stop().then(
        () => process.exit(0),
        (error: unknown) => {
          log.error('did not stop cleanly', { error });
          process.exit(1);
        },
      );
    };
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, end);
    process.on('disconnect', () => {
      end('disconnect');
    });
  } catch (error) {
    log.error(startFailure(error), { error });
    process.exit(1);
  }
}

function startFailure(error: unknown): string {
  const { code, port } = error as { code?: string; port?: number };
  return code === 'EADDRINUSE' ? `port ${String(port)} is taken` : 'could not start';
}
