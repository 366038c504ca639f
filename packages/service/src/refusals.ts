/** What no handler ever sees: requests that Node's parser refuses, that are ill-framed, or that never come to an end (RFC 9112, contract §5). */
import { type IncomingMessage, STATUS_CODES, type Server, type ServerResponse } from 'node:http';
import { isIPv6 } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import type { Log } from '@trestle/log';
import { ERRORS, type ErrorCode } from '@trestle/schema/errors';
import { toRequestId } from './request-id.ts';

/** A request that was turned away, to be told in the process's own envelope. */
export interface Refusal {
  readonly code: ErrorCode;
  readonly message: string;
  readonly requestId: string;
}

/** What the client reads, and what else its answer is to carry; type, length, request id and `Connection: close` are there anyway. */
export interface RefusalAnswer {
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Door {
  readonly log: Log;
  /** The process's own envelope; without it that of spec §7.1. */
  readonly toRefusalAnswer?: ((refusal: Refusal) => RefusalAnswer) | undefined;
  /** Gets every request that was not turned away. */
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void;
  /** Gets the connections that are to be something else than HTTP from now on. */
  readonly upgrade?: ((request: IncomingMessage, socket: Duplex, head: Buffer) => void) | undefined;
}

export type Reason = Omit<Refusal, 'requestId'>;

/** A browser that was here by HTTPS once comes back by HTTPS only, for a year (RFC 6797, spec §9). */
export const HSTS = 'max-age=31536000; includeSubDomains';

export const UNKNOWN_METHOD: Reason = { code: 'NOT_IMPLEMENTED', message: 'The server does not know this method' };
export const TOO_SLOW: Reason = { code: 'REQUEST_TIMEOUT', message: 'The request did not arrive in time' };
export const HEADERS_TOO_LARGE: Reason = { code: 'REQUEST_HEADER_FIELDS_TOO_LARGE', message: 'The headers are too large' };
/** The parser's own text quotes the request and is for nobody. */
const REASONS: Readonly<Record<string, Reason>> = {
  ERR_HTTP_REQUEST_TIMEOUT: TOO_SLOW,
  HPE_HEADER_OVERFLOW: HEADERS_TOO_LARGE,
  HPE_INVALID_METHOD: UNKNOWN_METHOD,
  // One of RTSP's methods: the parser knows those and gives no code of their own for them.
  'Invalid method for HTTP/x.x request': UNKNOWN_METHOD,
};
export const MALFORMED: Reason = { code: 'VALIDATION_ERROR', message: 'This is not well-formed HTTP' };
export const NO_PROXY: Reason = { code: 'NOT_IMPLEMENTED', message: 'The server is no proxy' };
export const TOO_MANY: Reason = {
  code: 'SERVICE_UNAVAILABLE',
  message: 'Too many requests of this client wait. Retry after the number of seconds in Retry-After.',
};
export const BAD_EXPECTATION: Reason = { code: 'VALIDATION_ERROR', message: 'Expect can ask for 100-continue only' };

/** How long a client may take to close after it was refused; cut off at once, it might never read why (RFC 9112 §9.6). */
const LINGER_MS = 1000;

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The answer before it on the same connection, which has to be out first. */
  readonly previous: ServerResponse | undefined;
}

/** Hands well-formed requests to `handle` and answers all others: 408, 431, 501, and 400 for the rest, the forms of request smuggling among them. */
export function keepDoor(server: Server, door: Door): void {
  const { handle, upgrade } = door;
  const answer = createRefuser(door);
  const latest = new WeakMap<Duplex, Exchange>();
  const refused = new WeakSet<Duplex>();

  const receive = (request: IncomingMessage, response: ServerResponse, reason: Reason | undefined) => {
    const { socket } = request;
    // Where one request was ill-framed, what seems to follow it may be a part of it.
    if (refused.has(socket)) return;
    latest.set(socket, { request, response, previous: latest.get(socket)?.response });
    if (reason === undefined) {
      handle(request, response);
      return;
    }
    refused.add(socket);
    const { status, headers, body } = answer(reason, { sentId: request.headers['x-request-id'], isSecure: isSecure(socket) });
    response.writeHead(status, headers).end(body);
  };

  const refuseBare = (socket: Duplex, reason: Reason, request?: IncomingMessage) => {
    refused.add(socket);
    const { status, headers, body } = answer(reason, { sentId: request?.headers['x-request-id'], isSecure: isSecure(socket) });
    socket.end(
      toHttpMessage({ status, headers, body }),
      // A handler that waits for the rest of a body must not get it after all.
      () => request?.destroy(),
    );
    const cut = setTimeout(() => socket.destroy(), LINGER_MS).unref();
    socket.once('close', () => {
      clearTimeout(cut);
    });
  };

  server.on('request', (request, response) => {
    receive(request, response, isMalformed(request) ? MALFORMED : undefined);
  });
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    receive(request, response, BAD_EXPECTATION);
  });
  server.on('connect', (_, socket) => {
    // Node lets go of the connection here: an error that nobody listens to would end the process.
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
    // What came after a whole request must not take its answer's place.
    else if (exchange.request.complete) exchange.response.shouldKeepAlive = false;
    // Neither can it follow an answer that was given before the request was whole.
    else if (exchange.response.headersSent || exchange.previous?.writableFinished === false) socket.destroy();
    else refuseBare(socket, reason, exchange.request);
  });
}

/** Gives what logs a refusal and writes its answer; `sentId` is the client's own name for the request. */
export function createRefuser({ log, toRefusalAnswer = toEnvelope }: Omit<Door, 'handle'>) {
  return ({ code, message }: Reason, { sentId, isSecure }: { sentId: string | string[] | undefined; isSecure: boolean }): Message => {
    const requestId = toRequestId(sentId);
    const { status } = ERRORS[code];
    log.info('refused', { requestId, status, code });
    const { headers, body } = toRefusalAnswer({ code, message, requestId });
    return toMessage(status, { body, headers: { ...headers, ...(isSecure && { 'Strict-Transport-Security': HSTS }) } }, requestId);
  };
}

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

/** Whether it is well-formed and can name a host; an empty one is (RFC 9110 §7.2, RFC 3986 §3.2.2). */
export function isHost(text: string): boolean {
  const groups = text.length <= MAX_HOST_LENGTH ? HOST.exec(text)?.groups : undefined;
  return groups !== undefined && (groups['ipv6'] === undefined || isIPv6(groups['ipv6'])) && Number(groups['port'] ?? 0) <= MAX_PORT;
}

/**
 * What the parser lets through and a server must not: another version than 1.0 and 1.1, another coding than `chunked`, which 1.0 does not
 * know either, and not exactly one well-formed `Host` (RFC 9112 §2.3, §3.2, §6.1).
 */
function isMalformed({ rawHeaders, headers, httpVersion }: IncomingMessage): boolean {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return true;
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && (httpVersion === '1.0' || coding.toLowerCase() !== 'chunked')) return true;
  if (headers.host === undefined) return httpVersion === '1.1';
  return !isHost(headers.host) || countHosts(rawHeaders) > 1;
}

/** `headers` keeps the first one only. */
function countHosts(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) if (rawHeaders[i]?.length === 4 && rawHeaders[i]?.toLowerCase() === 'host') count++;
  return count;
}

function toEnvelope({ code, message, requestId }: Refusal): RefusalAnswer {
  return { body: { error: { code, message, requestId } } };
}

export interface Message {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Returns a response as it goes over a bare connection of HTTP/1.1. */
export function toHttpMessage({ status, headers, body }: Message): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${String(status)} ${STATUS_CODES[status] ?? ''}\r\nDate: ${new Date().toUTCString()}\r\n${lines.join('')}\r\n${body}`;
}

function toMessage(status: number, { headers, body }: RefusalAnswer, requestId: string): Message {
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
