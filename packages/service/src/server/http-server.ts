/** Creates the server behind a service's port: every request passes refusals, turns, traffic limits and admission before its handler. */
import { type Server, createServer } from 'node:http';
import type { Socket } from 'node:net';
import type { Log } from '@trestle/log';
import { Counter } from 'prom-client';
import { type Admission, createAdmission } from '../admission/admission.ts';
import { type ClientIds, createClientIds } from '../clients/client-id.ts';
import { createConnectionCount } from '../clients/connection-count.ts';
import { createAdmissionHandler } from '../admission/admission-handler.ts';
import { type LoadShedding, createLoadShedding } from './load-shedding.ts';
import { type LeanReader, startLeanReader } from '../http1/lean-reader/lean-reader.ts';
import type { Probes } from '../probes/probes.ts';
import { type Redirect, createRedirect } from './redirect.ts';
import { TOO_MANY } from '../http1/refusal-reasons.ts';
import { type RefusalHeaders, type RequestHandlers, createRefuser, handleRequests } from '../http1/refusals.ts';
import type { ServiceOptions } from './service-options.ts';
import { DEFAULT_LIMITS, type TrafficLimits } from '../settings.ts';
import { type TlsCredentials, requireTls, serveTls } from './tls.ts';
import { type CutCause, type Traffic, createTraffic } from '../http1/traffic.ts';
import { watchHttp1 } from '../http1/transfers.ts';
import { createUpgrades } from './upgrades.ts';
import { keepSending } from './idle-connections.ts';
import { readInParts } from '../http1/reads-in-parts.ts';
import { createPipelinedBytes } from '../http1/pipelined-bytes.ts';
import { type PipelineLimits, handleInOrder } from '../http1/pipelining.ts';
import { createPreflightHandler } from '../edge/preflight.ts';
import { Http1Response, hasLateHeaders, setDefaultLateHeaders, setLateHeaders } from '../messages/response-headers.ts';
import { WebSocketRequest } from '../http1/web-socket-request.ts';

const MAX_HEADER_BYTES = 16 * 1024;

type Handle = RequestHandlers['handle'];

/** A server that does not listen yet, and what ends it in steps. */
export interface HttpServer {
  readonly server: Server;
  /** Makes each connection end with its next response (`Connection: close`, GOAWAY). */
  readonly announce: () => void;
  /** Closes the idle connections of HTTP/1.1. */
  readonly closeIdle: () => void;
  /** Closes the connections that the server's own `closeIdleConnections` does not know: of TLS and HTTP/2. */
  readonly drain: () => void;
  /** Closes all connections, upgraded ones too. */
  readonly cut: () => void;
  /** Uses another certificate for connections that are opened from now on. Does nothing for a server that has started without TLS. */
  readonly replaceTls: (credentials: TlsCredentials) => void;
  /** Stops the timers of the server, which then no longer bounds its connections. */
  readonly close: () => void;
}

/** Creates the server of a service. It does not listen yet. */
export function createHttpServer(options: ServiceOptions): HttpServer {
  const { log, probes, upgrade, headersOf, toRefusalResponse, maxHeaderBytes = MAX_HEADER_BYTES, tls, edge } = options;
  const limits: TrafficLimits = { ...DEFAULT_LIMITS, ...options.limits };
  const server = createNodeServer({ limits, maxHeaderBytes, hasUpgrades: upgrade !== undefined });
  const { traffic, admit } = watchTraffic(server, { limits, log, probes });
  const pipeline = limitPipelines(traffic);
  readInParts(server, pipeline);
  const lean = readLean(server, options, { limits, maxHeaderBytes, pipeline });
  const clients = createClientIds(options.clientIdKey, edge?.proxies);
  const admission = options.admission ?? createAdmission();
  const shedding = createLoadShedding(options);
  let isLeaving = false;
  let certificate = tls?.cert;
  const redirect = createHttpsRedirect(options, () => certificate);
  const handle = createReceiver(options, { admission, clients, traffic, redirect, shedding, isLeaving: () => isLeaving });
  const refusals = { log, headersOf, toRefusalResponse, ...createRefusalHeaders(options, clients) };
  const upgrades = createUpgrades(options, { redirect, clients, traffic, shedding, refusals });
  handleRequests(server, {
    ...refusals,
    handle: queueByConnection(server, {
      ...{ traffic, pipeline },
      handle: tls && redirect ? requireTls(handle, { probes, redirect: redirect.respond, edge }) : handle,
    }),
    ...(upgrade && { upgrade: upgrades.handle }),
  });
  const secure = tls && serveTls(server, { credentials: tls, ...refusals, handle, maxHeaderBytes, limits, traffic });
  server.prependListener('connection', admit);
  return {
    server,
    announce: () => {
      isLeaving = true;
      secure?.announce();
    },
    closeIdle: () => {
      server.closeIdleConnections();
      lean?.closeIdle();
    },
    drain: () => secure?.drain(),
    cut: () => {
      server.closeAllConnections();
      lean?.cut();
      upgrades.cut();
      secure?.cut();
    },
    replaceTls: (credentials) => {
      secure?.replace(credentials);
      certificate = credentials.cert;
    },
    close: () => {
      lean?.close();
      traffic.close();
      admission.close();
      shedding.close();
    },
  };
}

function limitPipelines(traffic: Traffic): PipelineLimits {
  return {
    bytes: createPipelinedBytes(),
    onFlood: () => {
      traffic.count('too many requests at once');
    },
  };
}

/** Starts the lean reader of a server that has requests for it. */
function readLean(
  server: Server,
  { lean: requests, probes }: Pick<ServiceOptions, 'lean' | 'probes'>,
  { limits, ...shared }: { limits: TrafficLimits; maxHeaderBytes: number; pipeline: PipelineLimits },
): LeanReader | undefined {
  const { headersTimeoutMs, keepAliveTimeoutMs } = limits;
  return requests && startLeanReader(server, { requests, ...shared, headersTimeoutMs, keepAliveTimeoutMs, metrics: probes.metrics });
}

/** What every request and upgrade of a server shares. */
interface Shared {
  readonly admission: Admission;
  readonly clients: ClientIds;
  readonly traffic: Traffic;
  readonly redirect: Redirect | undefined;
  readonly shedding: LoadShedding;
  readonly isLeaving: () => boolean;
}

/** Creates the redirect to HTTPS of a process that has a certificate, or whose public address is HTTPS behind a proxy. */
function createHttpsRedirect(
  { publicUrl, tls, log, headersOf, toRefusalResponse, edge }: ServiceOptions,
  readCertificate: () => string | undefined,
): Redirect | undefined {
  if (!tls && (!edge || publicUrl?.startsWith('https:') !== true)) return undefined;
  return createRedirect({ publicUrl, readCertificate, log, headersOf, toRefusalResponse });
}

/**
 * Returns the functions that add the headers of every response. When the service itself answers a preflight, a redirect or a probe, the request is not
 * counted, and the headers of the rate limit stay as `prepare` has added them. A request that the service refuses is counted.
 */
function createRefusalHeaders({ edge, rateLimits }: ServiceOptions, clients: ClientIds): RefusalHeaders {
  if (!rateLimits) return { prepare: edge?.prepare };
  return {
    prepare(request, response) {
      edge?.prepare(request, response);
      setDefaultLateHeaders(response, () => {
        clients.identify(request);
        return rateLimits.describe(request);
      });
    },
    count(request, response) {
      if (hasLateHeaders(response)) return;
      clients.identify(request);
      const headers = rateLimits.countRefusal(request);
      setLateHeaders(response, () => headers);
    },
  };
}

/** Returns a handler that answers probes and preflight requests at once and passes all other requests to the admission. */
function createReceiver(options: ServiceOptions, { admission, clients, traffic, redirect, shedding, isLeaving }: Shared): Handle {
  const { log, probes, edge } = options;
  const answerPreflight = edge && createPreflightHandler(edge, options);
  // Also guarded alone, because a request that has waited begins in a later iteration of the event loop.
  const handle = guard(options.handle, log);
  const enter = shedding.wrap(createAdmissionHandler({ admission, clients, handle, refuse: createOverloadHandler(options, traffic) }));
  return guard((request, response) => {
    // The client opens its next connection to another process, if there is one (RFC 9112 §9.6).
    if (isLeaving()) response.shouldKeepAlive = false;
    if (probes.answer(request, response)) return;
    if (redirect && edge?.proxies.protocolOf(request) === 'http') redirect.respond(request, response);
    else if (answerPreflight?.(request, response) !== true) enter(request, response);
  }, log);
}

/** Returns a handler that does not throw: a request whose handler throws loses its own connection, and the process goes on. */
function guard(handle: Handle, log: Log): Handle {
  return (request, response) => {
    try {
      handle(request, response);
    } catch (error) {
      log.error('request failed', { error });
      response.destroy();
    }
  };
}

/** Returns a handler that answers 503 when too many requests of one client are waiting. */
function createOverloadHandler(options: ServiceOptions, traffic: Traffic): Handle {
  const toRefusal = createRefuser(options);
  return (request, response) => {
    traffic.count('too many requests of one client');
    const { status, headers, body } = toRefusal(TOO_MANY, request);
    response.writeHead(status, headers).end(request.method === 'HEAD' ? '' : body);
  };
}

/** Returns a handler for HTTP/1.1 that watches each transfer and handles the requests of one connection one after the other. */
function queueByConnection(
  server: Server,
  { traffic, pipeline, handle }: { traffic: Traffic; pipeline: PipelineLimits; handle: Handle },
): Handle {
  const watch = watchHttp1(server, traffic);
  return handleInOrder((request, response) => {
    watch(request, response);
    handle(request, response);
  }, pipeline);
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
  const { headersTimeoutMs, requestTimeoutMs, uploadTimeoutMs, keepAliveTimeoutMs, maxConnections } = limits;
  const server = createServer({
    maxHeaderSize: maxHeaderBytes,
    headersTimeout: headersTimeoutMs,
    // Node has one limit for uploads and other requests; `traffic.ts` limits the time of the others.
    requestTimeout: Math.max(requestTimeoutMs, uploadTimeoutMs),
    keepAliveTimeout: keepAliveTimeoutMs,
    // Bounds how late a timeout is noticed.
    connectionsCheckingInterval: Math.min(1000, headersTimeoutMs),
    // Otherwise Node answers a request without `Host` itself, with an empty body.
    requireHostHeader: false,
    ServerResponse: Http1Response,
    ...(hasUpgrades && { IncomingMessage: WebSocketRequest }),
  });
  // Otherwise Node silently drops the headers beyond the thousandth, which could be a second credential. Their size is limited anyway.
  server.maxHeadersCount = 0;
  server.maxConnections = maxConnections;
  keepSending(server);
  return server;
}

/** Bounds the transfers and connections of the server; counts what it cuts. */
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
