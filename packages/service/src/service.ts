/** Starts an HTTP server, reports when it listens, and stops it without losing a request. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '@trestle/log';
import { Counter } from 'prom-client';
import { type Admission, createAdmission } from './admission.ts';
import { createClientIds } from './client-id.ts';
import { createConnectionCount } from './connection-count.ts';
import { closeListener } from './close-listener.ts';
import { createEntrance } from './entrance.ts';
import { serveMetrics } from './metrics-port.ts';
import type { Probes } from './probes.ts';
import { createRedirect } from './redirect.ts';
import { type Door, TOO_MANY, createRefuser, isSecure, keepDoor } from './refusals.ts';
import { DEFAULT_LIMITS, type TrafficLimits } from './settings.ts';
import { type TlsCredentials, requireTls, serveTls } from './tls.ts';
import { type CutCause, type Traffic, createTraffic } from './traffic.ts';
import { UpgradedTransfer, watchHttp1 } from './transfers.ts';
import { takeTurns } from './turns.ts';
import { WebSocketRequest } from './web-socket-request.ts';

export { runProcess } from './run-process.ts';

/** How long requests in flight may take once the server no longer listens. */
const DRAIN_MS = 5000;
const IDLE_SWEEP_MS = 50;

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
  /** Limits of time, rate, bytes and connections; those that are absent have the defaults of `settings.ts`. */
  readonly limits?: Partial<TrafficLimits>;
  /** How long requests in flight may take once the server no longer listens. */
  readonly drainMs?: number;
  /** How long the server goes on to serve after a stop was announced, so that load balancers learn of it; default 0. */
  readonly drainDelayMs?: number;
  /** Where `/metrics` is, if not on the service's own port. */
  readonly metricsPort?: number | undefined;
  /** Shares the process between clients; one of its own unless the process admits other work than requests by it too. */
  readonly admission?: Admission;
  /** What our own processes sign the ids of their clients with (see `client-id.ts`). */
  readonly clientIdKey?: string | undefined;
  /** The address by which clients know the service; plain HTTP is redirected there. */
  readonly publicUrl?: string | undefined;
  /** The process's own envelope for what no handler sees; without it that of spec §7.1. */
  readonly toRefusalAnswer?: Door['toRefusalAnswer'];
  /** With them the port speaks HTTPS, by HTTP/1.1 and HTTP/2, and redirects plain HTTP there. */
  readonly tls?: TlsCredentials | undefined;
}

export interface Service {
  readonly port: number;
  /**
   * Makes `/readyz` answer 503 and each connection end with its next response (`Connection: close`, GOAWAY), and goes on to serve.
   * Resolves after `drainDelayMs`. A second call returns the promise of the first.
   */
  announceStop(): Promise<void>;
  /**
   * Announces the stop, then closes idle connections and the listener. Requests in flight get at most `drainMs`; then all that is
   * left is closed, upgraded connections too.
   */
  stop(): Promise<void>;
}

/** Listens, and answers probes before anything else. Rejects if the port is taken; the log line `listening` names the port. */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { log, port, host, probes, drainMs = DRAIN_MS, drainDelayMs = 0, metricsPort } = options;
  const { server, announce, drain, cut: cutAll, traffic, admission } = createHttpServer(options);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const metricsServer = metricsPort === undefined ? undefined : await serveMetrics({ port: metricsPort, host, metrics: probes.metrics });
  if (metricsServer) probes.moveMetrics();
  const address = server.address() as AddressInfo;
  log.info('listening', { port: address.port });
  let announced: Promise<void> | undefined;
  const announceStop = () => {
    if (!announced) {
      probes.leave();
      announce();
      announced = delay(drainDelayMs);
    }
    return announced;
  };
  return {
    port: address.port,
    announceStop,
    async stop() {
      await announceStop();
      drain();
      const cut = setTimeout(cutAll, drainMs);
      // Those whose request is in flight become idle only later.
      const sweep = setInterval(() => {
        server.closeIdleConnections();
      }, IDLE_SWEEP_MS);
      const closed = new Promise((resolve) => server.once('close', resolve));
      await closeListener(server);
      await closed;
      clearTimeout(cut);
      clearInterval(sweep);
      traffic.close();
      admission.close();
      metricsServer?.close();
      metricsServer?.closeAllConnections();
    },
  };
}

function createHttpServer(options: ServiceOptions) {
  const { log, probes, handle, upgrade, toRefusalAnswer, maxHeaderBytes = 16 * 1024, publicUrl, tls } = options;
  const limits: TrafficLimits = { ...DEFAULT_LIMITS, ...options.limits };
  const server = createNodeServer({ limits, maxHeaderBytes, hasUpgrades: upgrade !== undefined });
  const { traffic, admit } = watchTraffic(server, { limits, log, probes });
  const clients = createClientIds(options.clientIdKey);
  const admission = options.admission ?? createAdmission();
  let isLeaving = false;
  const enter = createEntrance({ admission, clients, handle, refuse: createTurnAway(options, traffic) });
  const receive: Door['handle'] = (request, response) => {
    // Its client opens the next connection, to another process if there is one (RFC 9112 §9.6).
    if (isLeaving) response.shouldKeepAlive = false;
    try {
      if (!probes.answer(request, response)) enter(request, response);
    } catch (error) {
      // One request's fault ends its own connection, never the process.
      log.error('request failed', { error });
      response.destroy();
    }
  };
  const redirect = tls && createRedirect({ publicUrl, certificate: tls.cert, log, toRefusalAnswer });
  const receivePlain = redirect ? requireTls(receive, { probes, redirect: redirect.respond }) : receive;
  const upgraded = new Set<Duplex>();
  const keepUpgraded: Door['upgrade'] = (request, socket, head) => {
    if (redirect && !isSecure(socket)) {
      redirect.respondBare(request, socket);
      return;
    }
    clients.identify(request);
    upgraded.add(socket);
    traffic.add(new UpgradedTransfer(socket));
    socket.once('close', () => upgraded.delete(socket));
    upgrade?.(request, socket, head);
  };
  const watch = watchHttp1(server, traffic);
  keepDoor(server, {
    log,
    toRefusalAnswer,
    handle: takeTurns(
      (request, response) => {
        watch(request, response);
        receivePlain(request, response);
      },
      () => {
        traffic.count('too many requests at once');
      },
    ),
    ...(upgrade && { upgrade: keepUpgraded }),
  });
  const front = tls && serveTls(server, { credentials: tls, log, toRefusalAnswer, handle: receive, maxHeaderBytes, limits, traffic });
  server.prependListener('connection', admit);
  return {
    server,
    traffic,
    admission,
    announce: () => {
      isLeaving = true;
      front?.announce();
    },
    drain: () => front?.drain(),
    cut: () => {
      server.closeAllConnections();
      for (const socket of upgraded) socket.destroy();
      front?.cut();
    },
  };
}

/** Answers 503 to requests of a client of which too many wait already. */
function createTurnAway({ log, toRefusalAnswer }: ServiceOptions, traffic: Traffic): Door['handle'] {
  const toAnswer = createRefuser({ log, toRefusalAnswer });
  return (request, response) => {
    traffic.count('too many requests of one client');
    const { status, headers, body } = toAnswer(TOO_MANY, { sentId: request.headers['x-request-id'], isSecure: isSecure(request.socket) });
    response.writeHead(status, { ...headers, 'Retry-After': '1' }).end(request.method === 'HEAD' ? '' : body);
  };
}

function createNodeServer({
  limits,
  maxHeaderBytes,
  hasUpgrades,
}: {
  limits: TrafficLimits;
  maxHeaderBytes: number;
  hasUpgrades: boolean;
}): Server {
  const { headersTimeoutMs, requestTimeoutMs, keepAliveTimeoutMs, maxConnections } = limits;
  const server = createServer({
    maxHeaderSize: maxHeaderBytes,
    headersTimeout: headersTimeoutMs,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    // How late a timeout may be noticed.
    connectionsCheckingInterval: Math.min(1000, headersTimeoutMs),
    // Else Node answers for itself, without a body.
    requireHostHeader: false,
    ...(hasUpgrades && { IncomingMessage: WebSocketRequest }),
  });
  // Else Node drops headers beyond the thousandth in silence, a second credential among them; their size is limited anyway.
  server.maxHeadersCount = 0;
  server.maxConnections = maxConnections;
  return server;
}

/** Cuts what is too slow or too much, and counts it. */
function watchTraffic(server: Server, { limits, log, probes }: { limits: TrafficLimits; log: Log; probes: Probes }) {
  const cuts = new Counter({
    name: 'trestle_connections_cut_total',
    help: 'Connections, requests and streams that were ended because they were too slow or too many.',
    labelNames: ['cause'],
    registers: [probes.metrics],
  });
  const onCut = (cause: CutCause) => {
    cuts.inc({ cause });
    log.debug('cut a connection', { code: cause });
  };
  server.on('drop', () => {
    onCut('too many connections');
  });
  const connections = createConnectionCount(limits.maxConnectionsPerAddress);
  return {
    traffic: createTraffic({ ...limits, onCut }),
    admit: (socket: Socket) => {
      if (connections.admit(socket)) return;
      onCut('too many connections of one address');
      socket.destroy();
    },
  };
}
