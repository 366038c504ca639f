/** HTTP/2 behind the same door: requests and answers that handlers made for HTTP/1.1 can work with, and the refusals that Node leaves to us. */
import { METHODS, type IncomingMessage, type ServerResponse } from 'node:http';
import {
  type Http2Server,
  Http2ServerRequest,
  Http2ServerResponse,
  type ServerHttp2Session,
  type ServerHttp2Stream,
  constants,
  createServer,
} from 'node:http2';
import type { TLSSocket } from 'node:tls';
import { BAD_EXPECTATION, type Door, HEADERS_TOO_LARGE, MALFORMED, NO_PROXY, type Reason, TOO_SLOW, UNKNOWN_METHOD } from './refusals.ts';
import { createRefuser, isHost } from './refusals.ts';

export interface Http2DoorOptions extends Door {
  readonly maxHeaderBytes: number;
  /** How long a connection may take to its first request, a request to its end, and how long a connection is kept without one. */
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
}

export interface Http2Door {
  /** Takes a connection whose ALPN said `h2`. */
  accept(socket: TLSSocket): void;
  /** Tells every client to go away once its requests are answered. */
  drain(): void;
}

const MAX_STREAMS = 250;
/** Node resets streams beyond its own limit without a word; up to this many times ours, they get a 431 that says why. */
const OWN_LIMIT_FACTOR = 4;

/** Hands requests to `handle` as the door for HTTP/1.1 does. */
export function createHttp2Door(options: Http2DoorOptions): Http2Door {
  const { handle, maxHeaderBytes, requestTimeoutMs } = options;
  const refuser = createRefuser(options);
  const sessions = new Set<ServerHttp2Session>();
  let isDraining = false;

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
    if (!stream.endAfterHeaders) {
      const late = setTimeout(() => {
        if (response.headersSent) stream.close(constants.NGHTTP2_CANCEL);
        else refuse(request, response, TOO_SLOW);
        // A handler that waits for the rest of a body must not get it after all.
        request.destroy();
      }, requestTimeoutMs).unref();
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
    // As many as there is room for: their size is limited.
    maxHeaderListPairs: maxHeaderBytes,
  });
  server.on('request', receive);
  server.on('checkExpectation', (request: Request, response: Response) => {
    refuse(request, response, BAD_EXPECTATION);
  });
  server.on('connect', (request: Request, response: Response) => {
    refuse(request, response, NO_PROXY);
  });
  server.on('session', (session) => {
    sessions.add(session);
    session.once('close', () => sessions.delete(session));
    closeIdle(session, options);
    if (isDraining) session.close();
  });
  return {
    accept: (socket) => void server.emit('connection', socket),
    drain() {
      isDraining = true;
      for (const session of sessions) session.close();
    },
  };
}

/** What is neither waiting for an answer nor asking is closed, however many frames it sends. */
function closeIdle(session: ServerHttp2Session, { headersTimeoutMs, keepAliveTimeoutMs }: Http2DoorOptions): void {
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

function isWhole(stream: ServerHttp2Stream): boolean {
  return stream.endAfterHeaders || (stream.readableEnded && !stream.aborted);
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

/** A request as handlers know it from HTTP/1.1. */
class Request extends Http2ServerRequest {
  constructor(...args: ConstructorParameters<typeof Http2ServerRequest>) {
    super(...args);
    // The target's host has a name of its own in HTTP/2.
    const { headers } = this;
    if (headers[':authority'] !== undefined) headers.host ??= headers[':authority'];
  }

  /** Of a body that breaks off there is no end, only a close. */
  override push(chunk: unknown, encoding?: BufferEncoding): boolean {
    if (chunk !== null || isWhole(this.stream)) return super.push(chunk, encoding);
    this.destroy();
    return false;
  }
}

/** What speaks of a connection has no place in HTTP/2 (RFC 9113 §8.2.2). */
const OF_CONNECTION = new Set(['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade']);

/** An answer as handlers write it for HTTP/1.1: headers as an object or as a flat list, those of the connection among them. */
class Response extends Http2ServerResponse<Request> {
  override writeHead(status: number, ...rest: unknown[]): this {
    const headers = rest.at(-1);
    for (const [name, value] of toEntries(headers)) if (!OF_CONNECTION.has(name.toLowerCase())) this.setHeader(name, value);
    return super.writeHead(status);
  }

  static {
    // Node ends the stream of a client that went away and takes that for an answer; handlers want to know that nobody had it.
    Object.defineProperty(this.prototype, 'writableFinished', {
      get(this: Response) {
        return this.stream.writableFinished && !this.stream.aborted;
      },
    });
  }
}

function toEntries(headers: unknown): [string, string | string[]][] {
  if (!Array.isArray(headers))
    return typeof headers === 'object' && headers !== null ? (Object.entries(headers) as [string, string | string[]][]) : [];
  const entries = new Map<string, string | string[]>();
  for (let i = 0; i < headers.length; i += 2) {
    const [name, value] = headers.slice(i, i + 2) as [string, string];
    const known = entries.get(name);
    entries.set(name, known === undefined ? value : [known, value].flat());
  }
  return [...entries];
}
