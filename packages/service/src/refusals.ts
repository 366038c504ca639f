/** Answers the requests that no handler sees: those that Node's parser refuses, that are ill-framed, or that never end (RFC 9112, contract §5). */
import { type IncomingMessage, STATUS_CODES, type Server, type ServerResponse } from 'node:http';
import { isIPv6 } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import type { Log } from '@trestle/log';
import { ERRORS, type ErrorCode } from '@trestle/schema/errors';
import { toRequestId } from './request-id.ts';

/** A refused request, to be reported in the process's own error envelope. */
export interface Refusal {
  readonly code: ErrorCode;
  readonly message: string;
  readonly requestId: string;
}

/** The JSON body and further headers of a refusal. Type, length, request id and `Connection: close` are added to them. */
export interface RefusalResponse {
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** How refusals are logged and rendered. */
export interface RefusalOptions {
  readonly log: Log;
  /** Renders a refusal in the process's own envelope; default: the envelope of spec §7.1. */
  readonly toRefusalResponse?: ((refusal: Refusal) => RefusalResponse) | undefined;
}

/** What receives the requests that are not refused. */
export interface RequestHandlers extends RefusalOptions {
  /** Called for every request with a response, before anything answers it. */
  readonly prepare?: ((request: IncomingMessage, response: ServerResponse) => void) | undefined;
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void;
  /** Takes over the connections that change to another protocol. */
  readonly upgrade?: ((request: IncomingMessage, socket: Duplex, head: Buffer) => void) | undefined;
}

/** Why a request is refused: the code decides the status, the message is for the client. */
export type Reason = Omit<Refusal, 'requestId'>;

/** The value of Strict-Transport-Security: browsers use HTTPS only for a year after they have used it once (RFC 6797, spec §9). */
export const HSTS = 'max-age=31536000; includeSubDomains';

/** The method is none of those that Node's parser knows. */
export const UNKNOWN_METHOD: Reason = { code: 'NOT_IMPLEMENTED', message: 'The server does not support the request method.' };
/** The headers or the body exceeded a limit of time or rate. */
export const TOO_SLOW: Reason = { code: 'REQUEST_TIMEOUT', message: 'The request did not arrive completely in time. Send it again.' };
/** All headers together exceed their limit. */
export const HEADERS_TOO_LARGE: Reason = {
  code: 'REQUEST_HEADER_FIELDS_TOO_LARGE',
  message: 'The request headers are too large. Send fewer or shorter headers.',
};
/** By the error codes of Node's parser. Its messages are not used: they quote the request. */
const REASONS: Readonly<Record<string, Reason>> = {
  ERR_HTTP_REQUEST_TIMEOUT: TOO_SLOW,
  HPE_HEADER_OVERFLOW: HEADERS_TOO_LARGE,
  HPE_INVALID_METHOD: UNKNOWN_METHOD,
  // For RTSP's methods, which the parser knows, it reports this text in place of a code of its own.
  'Invalid method for HTTP/x.x request': UNKNOWN_METHOD,
};
/** The request breaks the syntax or framing of HTTP. */
export const MALFORMED: Reason = { code: 'VALIDATION_ERROR', message: 'The request is not well-formed HTTP.' };
/** The method is CONNECT (RFC 9110 §9.3.6). */
export const NO_PROXY: Reason = { code: 'NOT_IMPLEMENTED', message: 'CONNECT is not supported: the server is not a proxy.' };
/** A client has too many waiting requests. */
export const TOO_MANY: Reason = {
  code: 'SERVICE_UNAVAILABLE',
  message: 'Too many requests of one client are waiting. Retry after the number of seconds in Retry-After.',
};
/** `Expect` has another value than `100-continue` (RFC 9110 §10.1.1). */
export const BAD_EXPECTATION: Reason = { code: 'VALIDATION_ERROR', message: 'Expect must be 100-continue or absent.' };

/** How long a refused client may take to close. A connection that is cut at once can lose the response (RFC 9112 §9.6). */
const LINGER_MS = 1000;

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The response before it on the same connection, which has to be sent first. */
  readonly previous: ServerResponse | undefined;
}

/** Passes well-formed requests to `handle` and answers all others: 408, 431, 501, and 400 for the rest, which includes request smuggling. */
export function handleRequests(server: Server, handlers: RequestHandlers): void {
  const { handle, upgrade, prepare } = handlers;
  const refuse = createRefuser(handlers);
  const latest = new WeakMap<Duplex, Exchange>();
  const refused = new WeakSet<Duplex>();

  const receive = (request: IncomingMessage, response: ServerResponse, reason: Reason | undefined) => {
    const { socket } = request;
    // After an ill-framed request, what seems to be the next one may be a part of it.
    if (refused.has(socket)) return;
    latest.set(socket, { request, response, previous: latest.get(socket)?.response });
    prepare?.(request, response);
    if (reason === undefined) {
      handle(request, response);
      return;
    }
    refused.add(socket);
    const { status, headers, body } = refuse(reason, { sentId: request.headers['x-request-id'], isSecure: isSecure(socket) });
    response.writeHead(status, headers).end(body);
  };
  const refuseBare = (socket: Duplex, reason: Reason, request?: IncomingMessage) => {
    refused.add(socket);
    const message = refuse(reason, { sentId: request?.headers['x-request-id'], isSecure: isSecure(socket) });
    // A handler that reads the body must not receive what follows the refusal.
    endBare(socket, message, () => request?.destroy());
  };

  server.on('request', (request, response) => {
    receive(request, response, isMalformed(request) ? MALFORMED : undefined);
  });
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    receive(request, response, BAD_EXPECTATION);
  });
  server.on('connect', (_, socket) => {
    // Node has no error listener on the connection from here on; an error without one would end the process.
    socket.on('error', () => socket.destroy()).resume();
    if (latest.get(socket)?.response.writableFinished === false) socket.destroy();
    else refuseBare(socket, NO_PROXY);
  });
  if (upgrade) {
    server.on('upgrade', (request: IncomingMessage, socket, head) => {
      socket.on('error', () => socket.destroy());
      if (latest.get(socket)?.response.writableFinished === false) socket.destroy();
      else if (isMalformed(request)) refuseBare(socket.resume(), MALFORMED, request);
      else upgrade(request, socket, head);
    });
  }
  server.on('clientError', (error: ParserError, socket) => {
    if (refused.has(socket)) return;
    const reason = REASONS[error.code ?? ''] ?? REASONS[error.reason ?? ''] ?? MALFORMED;
    const exchange = latest.get(socket);
    if (!socket.writable) socket.destroy();
    else if (!exchange || isOver(exchange)) refuseBare(socket, reason);
    // The fault follows a complete request, whose own response is still to be sent.
    else if (exchange.request.complete) exchange.response.shouldKeepAlive = false;
    // A refusal cannot follow a response that was begun before the request was complete.
    else if (exchange.response.headersSent || exchange.previous?.writableFinished === false) socket.destroy();
    else refuseBare(socket, reason, exchange.request);
  });
}

/** Sends the message and closes the connection; cuts it when the client has not closed its side after {@link LINGER_MS}. */
function endBare(socket: Duplex, message: Message, onSent: () => void): void {
  socket.end(toHttpMessage(message), onSent);
  const cut = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once('close', () => {
    clearTimeout(cut);
  });
}

/** Sends a refusal on a connection that Node no longer manages, such as one of a request for a WebSocket, and closes it. */
export function refuseSocket(socket: Duplex, message: Message): void {
  endBare(socket, message, () => undefined);
}

/** Returns a function that logs a refusal and returns its response. `sentId` is the `X-Request-ID` of the client. */
export function createRefuser({ log, toRefusalResponse = toEnvelope }: RefusalOptions) {
  return ({ code, message }: Reason, { sentId, isSecure }: { sentId: string | string[] | undefined; isSecure: boolean }): Message => {
    const requestId = toRequestId(sentId);
    const { status } = ERRORS[code];
    log.info('refused', { requestId, status, code });
    const { headers, body } = toRefusalResponse({ code, message, requestId });
    const all = { ...headers, 'X-Content-Type-Options': 'nosniff', ...(isSecure && { 'Strict-Transport-Security': HSTS }) };
    return toMessage(status, { body, headers: all }, requestId);
  };
}

/** Returns whether the connection is encrypted. */
export function isSecure(socket: Duplex): boolean {
  return socket instanceof TLSSocket;
}

interface ParserError extends Error {
  readonly code?: string;
  readonly reason?: string;
}

function isOver({ request, response }: Exchange): boolean {
  return request.complete && response.writableFinished;
}

const HOST = /^(?:\[(?<ipv6>[\da-f:.]+)\]|(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*)(?::(?<port>\d*))?$/i;
const MAX_HOST_LENGTH = 255;
const MAX_PORT = 65_535;

/** Returns whether the value of `Host` is well-formed. An empty one is (RFC 9110 §7.2, RFC 3986 §3.2.2). */
export function isHost(text: string): boolean {
  const groups = text.length <= MAX_HOST_LENGTH ? HOST.exec(text)?.groups : undefined;
  return groups !== undefined && (groups['ipv6'] === undefined || isIPv6(groups['ipv6'])) && Number(groups['port'] ?? 0) <= MAX_PORT;
}

/**
 * Finds what Node's parser accepts and a server must refuse: a version other than 1.0 and 1.1, a transfer coding other than `chunked` or
 * with version 1.0, and anything but one well-formed `Host` (RFC 9112 §2.3, §3.2, §6.1).
 */
function isMalformed({ rawHeaders, headers, httpVersion }: IncomingMessage): boolean {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return true;
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && (httpVersion === '1.0' || coding.toLowerCase() !== 'chunked')) return true;
  if (headers.host === undefined) return httpVersion === '1.1';
  return !isHost(headers.host) || countHosts(rawHeaders) > 1;
}

/** Counts in the raw headers, because `headers` has the first `Host` only. */
function countHosts(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) if (rawHeaders[i]?.length === 4 && rawHeaders[i]?.toLowerCase() === 'host') count++;
  return count;
}

function toEnvelope({ code, message, requestId }: Refusal): RefusalResponse {
  return { body: { error: { code, message, requestId } } };
}

/** A whole response. */
export interface Message {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Returns the bytes of a response, as text, for a connection of HTTP/1.1 that Node no longer manages. */
export function toHttpMessage({ status, headers, body }: Message): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${String(status)} ${STATUS_CODES[status] ?? ''}\r\nDate: ${new Date().toUTCString()}\r\n${lines.join('')}\r\n${body}`;
}

function toMessage(status: number, { headers, body }: RefusalResponse, requestId: string): Message {
  const text = JSON.stringify(body);
  return {
    status,
    headers: {
      ...headers,
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Length': String(Buffer.byteLength(text)),
      'Cache-Control': 'no-store',
      'X-Request-ID': requestId,
      Connection: 'close',
    },
    body: text,
  };
}
