/** HTTP/2 behind the same door: requests and answers that handlers made for HTTP/1.1 can work with, and the refusals that Node leaves to us. */
import { METHODS, type IncomingMessage, type ServerResponse } from 'node:http';
import { type Http2Server, type ServerHttp2Session, type ServerHttp2Stream, constants, createServer } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import { limitFrames } from './http2-floods.ts';
import { Http2Transfer, Request, Response, isWhole } from './http2-messages.ts';
import { BAD_EXPECTATION, type Door, HEADERS_TOO_LARGE, MALFORMED, NO_PROXY, type Reason, TOO_SLOW, UNKNOWN_METHOD } from './refusals.ts';
import { createRefuser, isHost } from './refusals.ts';
import type { TrafficLimits } from './settings.ts';
import type { Traffic } from './traffic.ts';

export interface Http2DoorOptions extends Door {
  readonly maxHeaderBytes: number;
  readonly limits: TrafficLimits;
  readonly traffic: Traffic;
}

export interface Http2Door {
  /** Takes a connection whose ALPN said `h2`. */
  readonly accept: (socket: TLSSocket) => void;
  /**
   * Tells every client to send further requests on another connection (GOAWAY, RFC 9113 §6.8): those that it sent since then were not
   * processed. Connections that come later get one request answered.
   */
  readonly announce: () => void;
  /** Closes all connections once their requests are answered. */
  readonly drain: () => void;
}

/** As nginx; each may hold 64 KiB of a body before anybody reads it. */
const MAX_STREAMS = 128;
const MAX_HEADER_FIELDS = 256;
/** Node resets streams beyond its own limit without a word; up to this many times ours, they get a 431 that says why. */
const OWN_LIMIT_FACTOR = 4;

/** Hands requests to `handle` as the door for HTTP/1.1 does. */
export function createHttp2Door(options: Http2DoorOptions): Http2Door {
  const { handle, maxHeaderBytes, limits, traffic } = options;
  const refuser = createRefuser(options);
  const sessions = new Set<ServerHttp2Session>();
  const floods = new WeakSet<object>();
  let phase: 'serving' | 'leaving' | 'draining' = 'serving';

  const refuse = (request: Request, response: Response, reason: Reason) => {
    const { status, headers, body } = refuser(reason, { sentId: request.headers['x-request-id'], isSecure: true });
    response.writeHead(status, headers).end(request.method === 'HEAD' ? '' : body);
  };
  const receive = (request: Request, response: Response) => {
    const { stream } = request;
    endWithAnswer(stream);
    const reason = findFault(request, maxHeaderBytes);
    if (reason) {
      refuse(request, response, reason);
      return;
    }
    const refuseSlow = () => {
      if (response.headersSent) stream.close(constants.NGHTTP2_CANCEL);
      else refuse(request, response, TOO_SLOW);
      // A handler that waits for the rest of a body must not get it after all.
      request.destroy();
    };
    traffic.add(new Http2Transfer({ request, response, refuse: refuseSlow }));
    if (!stream.endAfterHeaders) {
      const late = setTimeout(refuseSlow, limits.requestTimeoutMs).unref();
      for (const event of ['end', 'close'])
        stream.once(event, () => {
          clearTimeout(late);
        });
    }
    handle(request as unknown as IncomingMessage, response as unknown as ServerResponse);
  };

  const server: Http2Server<typeof IncomingMessage, typeof ServerResponse, typeof Request, typeof Response> = createServer({
    Http2ServerRequest: Request,
    Http2ServerResponse: Response,
    settings: { maxConcurrentStreams: MAX_STREAMS, maxHeaderListSize: OWN_LIMIT_FACTOR * maxHeaderBytes, enableConnectProtocol: false },
    // Beyond them Node resets the stream before any of it becomes an object; clients send far fewer.
    maxHeaderListPairs: MAX_HEADER_FIELDS,
  });
  server.on('request', receive);
  server.on('checkExpectation', (request: Request, response: Response) => {
    refuse(request, response, BAD_EXPECTATION);
  });
  server.on('connect', (request: Request, response: Response) => {
    refuse(request, response, NO_PROXY);
  });
  skipFloods(server, floods);
  server.on('session', (session) => {
    sessions.add(session);
    session.once('close', () => sessions.delete(session));
    closeIdle(session, limits);
    if (phase === 'draining') session.close();
    else if (phase === 'leaving')
      session.once('stream', () => {
        session.close();
      });
  });
  return {
    accept(socket) {
      server.once('session', (session) => {
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
      phase = 'leaving';
      for (const session of sessions) session.close();
    },
    drain() {
      phase = 'draining';
      for (const session of sessions) session.close();
    },
  };
}

/** Streams that arrive on a connection that is being ended cost no more: Node would make a request and a response of each. */
function skipFloods(server: NodeJS.EventEmitter, floods: WeakSet<object>): void {
  const listeners = server.listeners('stream') as ((stream: ServerHttp2Stream, ...rest: unknown[]) => void)[];
  server.removeAllListeners('stream');
  server.on('stream', (stream: ServerHttp2Stream, ...rest: unknown[]) => {
    if (stream.session && floods.has(stream.session)) {
      // An error that nobody listens to would end the process.
      stream.on('error', () => undefined);
      return;
    }
    for (const listener of listeners) listener.call(server, stream, ...rest);
  });
}

/** What is neither waiting for an answer nor asking is closed, however many frames it sends. */
function closeIdle(session: ServerHttp2Session, { headersTimeoutMs, keepAliveTimeoutMs }: TrafficLimits): void {
  let open = 0;
  const after = (milliseconds: number) =>
    setTimeout(() => {
      session.close();
    }, milliseconds).unref();
  let timer = after(headersTimeoutMs);
  session.on('stream', (stream) => {
    open++;
    clearTimeout(timer);
    stream.once('close', () => {
      if (--open === 0 && !session.destroyed) timer = after(keepAliveTimeoutMs);
    });
  });
  session.once('close', () => {
    clearTimeout(timer);
  });
}

/** Whose answer is out need not send the rest of a body that nobody reads (RFC 9113 §8.1). */
function endWithAnswer(stream: ServerHttp2Stream): void {
  stream.once('finish', () => {
    if (!isWhole(stream)) stream.close(constants.NGHTTP2_NO_ERROR);
  });
}

const KNOWN_METHODS = new Set(METHODS);

/** What Node lets through and a server must not. */
function findFault({ method, headers, rawHeaders }: Request, maxHeaderBytes: number): Reason | undefined {
  const { ':authority': authority, host } = headers;
  if (host === undefined || !isHost(host) || (authority !== undefined && authority !== host)) return MALFORMED;
  if (!KNOWN_METHODS.has(method)) return UNKNOWN_METHOD;
  let size = 0;
  // As if each were a line with its colon, space and end.
  for (let i = 0; i < rawHeaders.length; i += 2) size += (rawHeaders[i]?.length ?? 0) + (rawHeaders[i + 1]?.length ?? 0) + 4;
  return size > maxHeaderBytes ? HEADERS_TOO_LARGE : undefined;
}
