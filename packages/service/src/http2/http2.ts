/** Serves HTTP/2 to handlers that were written for HTTP/1.1, and refuses what Node lets through (RFC 9113). */
import { METHODS, type IncomingMessage, type ServerResponse } from 'node:http';
import { type Http2Server, type ServerHttp2Stream, constants, createServer } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import { createConnectionCount } from '../clients/connection-count.ts';
import { limitFrames } from './http2-floods.ts';
import { Http2Transfer, Request, Response, isWhole } from './http2-messages.ts';
import { manageSessions } from './http2-sessions.ts';
import { runPaced } from '../process/paced.ts';
import {
  BAD_EXPECTATION,
  HEADERS_TOO_LARGE,
  MALFORMED,
  NO_PROXY,
  type Reason,
  TOO_SLOW,
  UNKNOWN_METHOD,
} from '../http1/refusal-reasons.ts';
import { isHost } from '../messages/host.ts';
import { type RequestHandlers, createRefuser } from '../http1/refusals.ts';
import type { TrafficLimits } from '../settings.ts';
import type { Traffic } from '../http1/traffic.ts';

/** What handles the requests, and their limits. */
export interface Http2Options extends Omit<RequestHandlers, 'upgrade'> {
  /** Largest size of all headers of a request together. */
  readonly maxHeaderBytes: number;
  readonly limits: TrafficLimits;
  readonly traffic: Traffic;
}

/** The connections that use HTTP/2. */
export interface Http2Transport {
  /** Takes over a connection whose ALPN protocol is `h2`. */
  readonly accept: (socket: TLSSocket) => void;
  /**
   * Asks every client to send further requests on another connection (GOAWAY, RFC 9113 §6.8). Requests that the client sent since then
   * are not processed. Connections that are opened later serve one request each.
   */
  readonly announce: () => void;
  /** Closes each connection after its last response. */
  readonly drain: () => void;
}

/** As nginx; each stream can hold 64 KiB of a body before anything reads it. */
const MAX_STREAMS = 128;
/**
 * Of each further connection that its address has open. One iteration of the event loop reads all connections, and creates an object for each stream
 * that begins.
 */
const MAX_STREAMS_OF_FURTHER_CONNECTIONS = 32;
const MAX_HEADER_FIELDS = 256;
/** Node resets streams beyond its own limit of header bytes without a response. It is set to this many times ours, below which clients get a 431. */
const NODE_LIMIT_FACTOR = 4;

type Http2NodeServer = Http2Server<typeof IncomingMessage, typeof ServerResponse, typeof Request, typeof Response>;
type Refuse = (request: Request, response: Response, reason: Reason) => void;

/** Creates a transport that passes well-formed requests to `handle` and refuses all others. */
export function createHttp2Transport(options: Http2Options): Http2Transport {
  const { limits, traffic } = options;
  const toRefusal = createRefuser(options);
  const refuse: Refuse = (request, response, reason) => {
    options.count?.(request, response);
    const { status, headers, body } = toRefusal(reason, request);
    response.writeHead(status, headers).end(request.method === 'HEAD' ? '' : body);
    const transfer: Http2Transfer = new Http2Transfer({
      ...{ request, response },
      refuse: () => {
        transfer.cut();
      },
    });
    // A client that reads no refusal would keep its stream and its connection.
    traffic.add(transfer);
  };
  const refuseAlways = (reason: Reason) => (request: Request, response: Response) => {
    closeAfterResponse(request.stream);
    options.prepare?.(request, response);
    refuse(request, response, reason);
  };
  const floods = new WeakSet<object>();
  const server = createNodeServer(options.maxHeaderBytes);
  server.on('request', createReceiver(options, refuse));
  server.on('checkExpectation', refuseAlways(BAD_EXPECTATION));
  server.on('connect', refuseAlways(NO_PROXY));
  createRequestsPaced(server, floods);
  const sessions = manageSessions(limits);
  const firstConnections = createConnectionCount(1);
  return {
    accept(socket) {
      server.once('session', (session) => {
        sessions.add({ session, socket });
        // Streams beyond the limit are refused before the client has acknowledged it (RFC 9113 §5.1.2).
        if (!firstConnections.admit(socket)) session.settings({ maxConcurrentStreams: MAX_STREAMS_OF_FURTHER_CONNECTIONS });
        limitFrames(session, {
          socket,
          onFlood: () => {
            floods.add(session);
            traffic.count('too many frames');
          },
        });
      });
      server.emit('connection', socket);
    },
    announce() {
      sessions.close('leaving');
    },
    drain() {
      sessions.close('draining');
    },
  };
}

function createNodeServer(maxHeaderBytes: number): Http2NodeServer {
  return createServer({
    Http2ServerRequest: Request,
    Http2ServerResponse: Response,
    settings: { maxConcurrentStreams: MAX_STREAMS, maxHeaderListSize: NODE_LIMIT_FACTOR * maxHeaderBytes, enableConnectProtocol: false },
    // Node resets a stream with more of them before it creates an object for any. Clients send far fewer.
    maxHeaderListPairs: MAX_HEADER_FIELDS,
  });
}

/** Returns a function that watches and handles a request, or refuses it. */
function createReceiver({ prepare, handle, maxHeaderBytes, traffic }: Http2Options, refuse: Refuse) {
  return (request: Request, response: Response) => {
    const { stream } = request;
    closeAfterResponse(stream);
    prepare?.(request, response);
    const reason = findFault(request, maxHeaderBytes);
    if (reason) {
      refuse(request, response, reason);
      return;
    }
    const refuseSlow = () => {
      if (response.headersSent) stream.close(constants.NGHTTP2_CANCEL);
      else refuse(request, response, TOO_SLOW);
      // A handler that reads the body must not receive what follows the refusal.
      request.destroy();
    };
    traffic.add(new Http2Transfer({ request, response, refuse: refuseSlow }));
    handle(request as unknown as IncomingMessage, response as unknown as ServerResponse);
  };
}

/**
 * Creates requests and responses for streams in later iterations of the event loop. A client can begin and reset a thousand streams with one write
 * (CVE-2023-44487): nothing is created for those that are reset by then, nor for streams of a connection that is being ended for a flood.
 */
function createRequestsPaced(server: NodeJS.EventEmitter, floods: WeakSet<object>): void {
  const listeners = server.listeners('stream') as ((stream: ServerHttp2Stream, ...rest: unknown[]) => void)[];
  server.removeAllListeners('stream');
  server.on('stream', (stream: ServerHttp2Stream, ...rest: unknown[]) => {
    // An error without a listener would end the process.
    stream.on('error', ignore);
    if (!stream.session || floods.has(stream.session)) return;
    runPaced(() => {
      if (stream.closed || stream.destroyed) return;
      for (const listener of listeners) listener.call(server, stream, ...rest);
    });
  });
}

function ignore(): void {
  // The stream is closed with it.
}

/** Closes the stream after a response that was sent before the whole body arrived: nothing reads the rest of it (RFC 9113 §8.1). */
function closeAfterResponse(stream: ServerHttp2Stream): void {
  stream.once('finish', () => {
    if (isWhole(stream)) return;
    // After the response has been sent: clients of Node.js 22 and later emit no response when its headers come together with the end of the stream.
    setImmediate(() => {
      stream.close(constants.NGHTTP2_NO_ERROR);
    });
  });
}

const KNOWN_METHODS = new Set(METHODS);

/** Returns why a server must refuse a request that Node lets through; undefined for a valid one. */
function findFault({ method, headers, rawHeaders }: Request, maxHeaderBytes: number): Reason | undefined {
  const { ':authority': authority, host } = headers;
  if (host === undefined || !isHost(host) || (authority !== undefined && authority !== host)) return MALFORMED;
  if (!KNOWN_METHODS.has(method)) return UNKNOWN_METHOD;
  let size = 0;
  // Counted as lines of HTTP/1.1: 4 bytes more for the colon, the space and the line end.
  for (let i = 0; i < rawHeaders.length; i += 2) size += (rawHeaders[i]?.length ?? 0) + (rawHeaders[i + 1]?.length ?? 0) + 4;
  return size > maxHeaderBytes ? HEADERS_TOO_LARGE : undefined;
}
