/**
 * Requests whose body is passed on while it arrives, such as uploads of files. They hold none of it in memory, so they count only for the limits of
 * rate and time, and may take longer than other requests.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';

/** A property rather than an entry of a WeakMap, which costs more at each garbage collection. */
const STREAMED = Symbol('streamed');

interface Streamed {
  [STREAMED]?: boolean;
}

/** Declares that the handler passes the body of this request on while it arrives, no faster than the receiver takes it. */
export function markStreamed(request: object): void {
  (request as Streamed)[STREAMED] = true;
}

/** Returns whether the request was marked. */
export function isStreamed(request: object): boolean {
  return (request as Streamed)[STREAMED] === true;
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
