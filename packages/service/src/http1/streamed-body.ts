/**
 * Requests whose body is passed on while it arrives, such as uploads of files. They hold none of it in memory, so they count only for the limits of
 * rate and time, and may take longer than other requests. And responses that are sent before the body of their request has arrived.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isLean } from './lean-reader/lean-response.ts';

/** A property rather than an entry of a WeakMap, which costs more at each garbage collection. */
const STREAMED = Symbol('streamed');

interface Streamed {
  /** The hops before this process. */
  [STREAMED]?: number;
}

/**
 * How much longer each hop waits than the one before. The time in which a stalled body is noticed varies by a factor of 2, since the rate is measured
 * over successive windows; the rest is for what a busy process adds.
 */
const PATIENCE_OF_HOP = 3;

/**
 * Declares that the handler passes the body of this request on while it arrives, no faster than the receiver takes it. `hops` is the number of
 * processes of this system that have passed it on before: each has more patience than the one before, so that a slow client is answered by the process
 * to which it is connected, rather than by an error of the next one.
 */
export function markStreamed(request: object, hops = 0): void {
  (request as Streamed)[STREAMED] = hops;
}

/** Returns by which factor the time of grace of this request is longer. */
export function patienceOf(request: object): number {
  return PATIENCE_OF_HOP ** ((request as Streamed)[STREAMED] ?? 0);
}

/** Returns whether the request was marked. */
export function isStreamed(request: object): boolean {
  return (request as Streamed)[STREAMED] !== undefined;
}

/**
 * Returns whether a response with these headers is to be sent by {@link endBeforeBody}: the rest of the body may still arrive, and the connection ends
 * after the response. A request of the lean reader has arrived wholly, and a stream of HTTP/2 ends without its connection.
 */
export function endsBeforeBody(
  request: IncomingMessage,
  response: ServerResponse,
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): boolean {
  if (request.complete) return false;
  return isStreamed(request) || (headers['connection'] === 'close' && request.httpVersionMajor === 1 && !isLean(response));
}

/** How long the rest of a refused body is read. */
const LINGER_MS = 1000;

/**
 * Sends the body of a response whose request may still be arriving, and ends the connection. A connection that is closed with unread bytes is
 * reset, and the client could lose the response (RFC 9112 §9.6): so the rest is read and discarded, for a second at most. The head must have been
 * written, with `Connection: close` and a length.
 */
export function endBeforeBody(request: IncomingMessage, response: ServerResponse, body: Buffer | string): void {
  if (request.complete || request.destroyed) {
    response.end(body);
    return;
  }
  response.write(body);
  const end = () => {
    clearTimeout(timer);
    response.end();
  };
  const timer = setTimeout(end, LINGER_MS).unref();
  request.once('end', end).once('close', end).once('error', end);
  request.unpipe().removeAllListeners('data').resume();
}
