/** Answers the requests that no handler sees: those that Node's parser refuses, that are ill-framed, or that never end (RFC 9112, contract §5). */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Log } from '@trestle/log';
import { ERRORS, type ErrorCode } from '@trestle/schema/errors';
import { type Message, endBare, toHttpMessage } from '../messages/bare-responses.ts';
import { isLean } from './lean-reader/lean-response.ts';
import { runPaced } from '../process/paced.ts';
import { readHead } from './checked-head.ts';
import { BAD_EXPECTATION, HEADERS_TOO_LARGE, MALFORMED, NO_PROXY, type Reason, TOO_SLOW, UNKNOWN_METHOD } from './refusal-reasons.ts';
import { findRequestId, toRequestId } from '../messages/request-id.ts';
import { addedHeadersOf } from '../messages/response-headers.ts';

/** A refused request, to be reported in the process's own error envelope. */
export interface Refusal {
  readonly code: ErrorCode;
  readonly message: string;
  readonly requestId: string;
  /** The request target; undefined when the request could not be parsed so far. */
  readonly url: string | undefined;
  /** The media types that the client accepts; undefined when it has not said so, or the request could not be parsed so far. */
  readonly accept: string | undefined;
}

/** The JSON body and further headers of a refusal. Type, length, request id and `Connection: close` are added to them. */
export interface RefusalResponse {
  readonly body: unknown;
  /** The media type of the body. Default: `application/json`. */
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** How the responses of the service itself are logged and rendered. */
export interface RefusalOptions {
  readonly log: Log;
  /** Returns headers of refusals, preflights and redirects by the request target, if it could be parsed; default: none. */
  readonly headersOf?: ((url: string | undefined) => Readonly<Record<string, string>>) | undefined;
  /** Renders a refusal in the process's own envelope; default: the envelope of spec §7.1. */
  readonly toRefusalResponse?: ((refusal: Refusal) => RefusalResponse) | undefined;
}

/** A connection as far as a refusal depends on it. */
interface Peer {
  readonly remoteAddress?: string | undefined;
  readonly encrypted?: boolean;
  readonly bytesRead?: number;
}

/** A request as far as a refusal depends on it. The parser refuses requests whose headers nobody has read. */
export interface RefusedRequest extends Pick<IncomingMessage, 'headers' | 'url'> {
  readonly socket: Peer;
}

/** What adds headers to refusals. `response` may be any object: `addedHeadersOf` returns what was added to it. */
export interface RefusalHeaders {
  /** Called for every request, before anything answers it. */
  readonly prepare?: ((request: RefusedRequest, response: object) => void) | undefined;
  /** Counts a request that is refused, unless a handler has counted it, and adds the headers of its limit. */
  readonly count?: ((request: RefusedRequest, response: object) => void) | undefined;
}

/** What receives the requests that are not refused. */
export interface RequestHandlers extends RefusalOptions, RefusalHeaders {
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void;
  /** Takes over the connections that change to another protocol. */
  readonly upgrade?: ((request: IncomingMessage, socket: Duplex, head: Buffer) => void) | undefined;
}

/** The value of Strict-Transport-Security: browsers use HTTPS only for a year after they have used it once (RFC 6797, spec §9). */
export const HSTS = 'max-age=31536000; includeSubDomains';

const TIMEOUT = 'ERR_HTTP_REQUEST_TIMEOUT';
/** By the error codes of Node's parser. Its messages are not used: they quote the request. */
const REASONS: Readonly<Record<string, Reason>> = {
  [TIMEOUT]: TOO_SLOW,
  HPE_HEADER_OVERFLOW: HEADERS_TOO_LARGE,
  HPE_INVALID_METHOD: UNKNOWN_METHOD,
  // For RTSP's methods, which the parser knows, it reports this text in place of a code of its own.
  'Invalid method for HTTP/x.x request': UNKNOWN_METHOD,
};
interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The response before it on the same connection, which has to be sent first. */
  readonly previous: ServerResponse | undefined;
}

/** Passes well-formed requests to `handle` and answers all others: 408, 431, 501, and 400 for the rest, which includes request smuggling. */
export function handleRequests(server: Server, handlers: RequestHandlers): void {
  const { handle, upgrade, prepare, count } = handlers;
  const refuse = createRefuser(handlers);
  const refuseSocket = createSocketRefuser(handlers);
  const latest = new WeakMap<Duplex, Exchange>();
  const refused = new WeakSet<Duplex>();

  const receive = (request: IncomingMessage, response: ServerResponse, reason: Reason | undefined) => {
    const { socket } = request;
    // After an ill-framed request, what seems to be the next one may be a part of it.
    if (refused.has(socket)) return;
    // A request of the lean reader is whole, and its connection has no other in flight: no refusal depends on it.
    if (!isLean(response)) latest.set(socket, { request, response, previous: unsent(latest.get(socket)?.response) });
    prepare?.(request, response);
    if (reason === undefined) {
      handle(request, response);
      return;
    }
    refused.add(socket);
    count?.(request, response);
    const { status, headers, body } = refuse(reason, request);
    response.writeHead(status, headers).end(body);
  };
  const refuseBare = (socket: Duplex, reason: Reason, exchange?: RefusedExchange) => {
    refused.add(socket);
    refuseSocket(socket, reason, exchange);
  };

  server.on('request', (request, response) => {
    if (isDropped(request)) return;
    // The lean reader has checked the framing of its requests.
    receive(request, response, isLean(response) || readHead(request) ? undefined : MALFORMED);
  });
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    receive(request, response, BAD_EXPECTATION);
  });
  server.on('connect', (request: IncomingMessage, socket) => {
    // Node has no error listener on the connection from here on; an error without one would end the process.
    socket.on('error', () => socket.destroy()).resume();
    if (latest.get(socket)?.response.writableFinished === false) socket.destroy();
    else refuseBare(socket, NO_PROXY, { request });
  });
  if (upgrade) {
    server.on('upgrade', (request: IncomingMessage, socket, head) => {
      socket.on('error', () => socket.destroy());
      // Node.js 26 wraps the connection of an upgrade with a body.
      if (latest.get(request.socket)?.response.writableFinished === false) socket.destroy();
      else if (!readHead(request)) refuseBare(socket.resume(), MALFORMED, { request });
      else upgrade(request, socket, head);
    });
  }
  const refuseUnreadable = (error: ParserError, socket: Duplex & Peer) => {
    if (refused.has(socket)) return;
    const reason = REASONS[error.code ?? ''] ?? REASONS[error.reason ?? ''] ?? MALFORMED;
    const exchange = latest.get(socket);
    const refuseNext = refuseBare.bind(undefined, socket, reason, toRefusedExchange(error, socket));
    if (!socket.writable) socket.destroy();
    else if (!exchange || isOver(exchange)) refuseNext();
    // The fault follows a complete request, whose own response is still to be sent.
    else if (exchange.request.complete) endAfter(exchange.response, socket, refuseNext);
    // A refusal cannot follow a response that was begun before the request was complete.
    else if (exchange.response.headersSent || exchange.previous?.writableFinished === false) socket.destroy();
    else refuseBare(socket, reason, exchange);
  };
  server.on('clientError', (error: ParserError, socket) => {
    // Node finds all connections that are too slow at once.
    if (error.code === TIMEOUT) runPaced(refuseUnreadable.bind(undefined, error, socket));
    else refuseUnreadable(error, socket);
  });
}

/**
 * Returns whether the connection of a new request has been closed, and ends such a request. There are such requests because the parser reads to the end
 * of the part that it has (`reads-in-parts.ts`), also after too many pipelined requests closed the connection. They are ended here because Node.js
 * otherwise creates an error with a stack for each, which takes most of the time.
 */
function isDropped(request: IncomingMessage): boolean {
  if (!request.socket.destroyed) return false;
  request.destroy();
  return true;
}

/** A refused request, and its response when Node has created one, which is then not used. */
type RefusedExchange =
  | { readonly request: IncomingMessage; readonly response?: ServerResponse }
  | { readonly request: RefusedRequest; readonly response?: undefined };

/** Returns a request whose method the parser does not know with its id (spec §1), which is in the bytes that were not parsed. */
function toRefusedExchange({ rawPacket, bytesParsed = 0 }: ParserError, socket: Peer): RefusedExchange | undefined {
  const id = rawPacket && findRequestId(rawPacket.subarray(bytesParsed));
  return id === undefined ? undefined : { request: { headers: { 'x-request-id': id }, url: undefined, socket } };
}

/**
 * Returns a function that refuses a request on a connection that Node no longer manages, and closes the connection. Without a request the peer is the
 * client, and what it sent is counted as a request of its address, unless it sent nothing: browsers open connections that they may need.
 */
export function createSocketRefuser(handlers: RefusalOptions & RefusalHeaders) {
  const { prepare, count } = handlers;
  const refuse = createRefuser(handlers);
  return (socket: Duplex, reason: Reason, exchange?: RefusedExchange): void => {
    const peer = socket as Peer;
    const request: RefusedRequest = exchange?.request ?? { headers: {}, socket: peer };
    const response = exchange?.response ?? {};
    if (!exchange?.response) prepare?.(request, response);
    if (exchange || peer.bytesRead !== 0) count?.(request, response);
    const message = refuse(reason, request);
    endBare(socket, toHttpMessage(message, addedHeadersOf(response, message.status)), () => {
      // A handler that reads the body must not receive what follows the refusal.
      if (exchange?.response) exchange.request.destroy();
    });
  };
}

/** Returns a function that logs a refusal and returns its response. */
export function createRefuser({ log, headersOf, toRefusalResponse = toEnvelope }: RefusalOptions) {
  return ({ code, message, retryAfterSeconds }: Reason, { headers: sent, socket, url }: RefusedRequest): Message => {
    const requestId = toRequestId(sent['x-request-id']);
    const { status } = ERRORS[code];
    log.info('refused', { requestId, status, code });
    const { headers, ...content } = toRefusalResponse({ code, message, requestId, url, accept: sent.accept });
    const all = {
      ...headersOf?.(url),
      ...headers,
      'X-Content-Type-Options': 'nosniff',
      ...(retryAfterSeconds !== undefined && { 'Retry-After': String(retryAfterSeconds) }),
      ...(isSecure(socket) && { 'Strict-Transport-Security': HSTS }),
    };
    return toMessage(status, { ...content, headers: all }, requestId);
  };
}

/** Returns whether the connection is encrypted. */
export function isSecure(socket: Peer): boolean {
  return socket.encrypted === true;
}

interface ParserError extends Error {
  readonly code?: string;
  readonly reason?: string;
  /** The bytes that were received last, and how many of them were parsed. */
  readonly rawPacket?: Buffer;
  readonly bytesParsed?: number;
}

/** A response that has been sent is not kept for the life of the connection, nor what its listeners refer to. */
function unsent(response: ServerResponse | undefined): ServerResponse | undefined {
  return response?.writableFinished === true ? undefined : response;
}

/** Makes the connection end with this response. When its head has been sent without saying so, `refuse` is called after it: once, for the first fault. */
function endAfter(response: ServerResponse, socket: Duplex, refuse: () => void): void {
  if (response.headersSent && response.shouldKeepAlive)
    response.once('close', () => {
      if (socket.writable) refuse();
    });
  response.shouldKeepAlive = false;
}

function isOver({ request, response }: Exchange): boolean {
  return request.complete && response.writableFinished;
}

function toEnvelope({ code, message, requestId }: Refusal): RefusalResponse {
  return { body: { error: { code, message, requestId } } };
}

const JSON_TYPE = 'application/json; charset=utf-8';

function toMessage(status: number, { headers, body, type = JSON_TYPE }: RefusalResponse, requestId: string): Message {
  const text = JSON.stringify(body);
  return {
    status,
    headers: {
      ...headers,
      'Content-Type': type,
      'Content-Length': String(Buffer.byteLength(text)),
      'Cache-Control': 'no-store',
      'X-Request-ID': requestId,
      Connection: 'close',
    },
    body: text,
  };
}
