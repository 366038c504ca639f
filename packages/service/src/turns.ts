/** Handles the requests of one HTTP/1.1 connection one after the other, however many a client pipelines (RFC 9112 §9.3.2). */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export type Handle = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * A connection that has more requests waiting is closed. Browsers do not pipeline, and load generators that do stay below; a client that reads no
 * responses would otherwise have the work of all its requests done, and their responses kept, at once.
 */
const MAX_WAITING = 100;

/** What is known of a connection from its first request on. */
interface Connection {
  isBusy: boolean;
  readonly waiting: (() => void)[];
}

/**
 * Returns a handler that calls `handle` for a request once the response to the one before it on the same connection is sent. `onFlood` is called
 * when a connection is closed because too many requests wait.
 */
export function takeTurns(handle: Handle, onFlood: () => void): Handle {
  const connections = new WeakMap<Socket, Connection>();
  const begin = (connection: Connection, request: IncomingMessage, response: ServerResponse) => {
    connection.isBusy = true;
    response.once('close', () => {
      connection.isBusy = false;
      if (!request.socket.destroyed) connection.waiting.shift()?.();
    });
    handle(request, response);
  };
  return (request, response) => {
    const { socket } = request;
    let connection = connections.get(socket);
    if (!connection) {
      connection = { isBusy: false, waiting: [] };
      connections.set(socket, connection);
    }
    const { isBusy, waiting } = connection;
    if (!isBusy) begin(connection, request, response);
    else if (waiting.length < MAX_WAITING) {
      const own = connection;
      waiting.push(() => {
        begin(own, request, response);
      });
    } else {
      onFlood();
      socket.destroy();
    }
  };
}
