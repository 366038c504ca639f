/** Handles the requests of one HTTP/1.1 connection one after the other, however many a client pipelines (RFC 9112 §9.3.2). */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export type Handle = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * A connection that has more requests waiting is closed. Browsers do not pipeline, and load generators that do stay below; a client that reads no
 * responses would otherwise have the work of all its requests done, and their responses kept, at once.
 */
const MAX_WAITING = 100;

/**
 * Returns a handler that calls `handle` for a request once the response to the one before it on the same connection is sent. `onFlood` is called
 * when a connection is closed because too many requests wait.
 */
export function takeTurns(handle: Handle, onFlood: () => void): Handle {
  /** The requests that wait, of connections with one in flight. */
  const waiting = new WeakMap<Socket, (() => void)[]>();
  const begin = (socket: Socket, request: IncomingMessage, response: ServerResponse) => {
    response.once('close', () => {
      const next = waiting.get(socket)?.shift();
      if (!next) waiting.delete(socket);
      else if (!socket.destroyed) next();
    });
    handle(request, response);
  };
  return (request, response) => {
    const { socket } = request;
    const queue = waiting.get(socket);
    if (queue === undefined) {
      waiting.set(socket, []);
      begin(socket, request, response);
    } else if (queue.length < MAX_WAITING) {
      queue.push(() => {
        begin(socket, request, response);
      });
    } else {
      onFlood();
      socket.destroy();
    }
  };
}
