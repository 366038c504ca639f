/** Handles the requests of one HTTP/1.1 connection one after the other, however many a client pipelines (RFC 9112 §9.3.2). */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { isLean } from './lean-reader/lean-response.ts';

/** Handles a request. */
export type Handle = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * A connection with more waiting requests is closed. Browsers do not pipeline, and load generators that do stay below. Without the limit, a
 * client that reads no responses would cause the work of all its requests, whose responses the server would keep.
 */
const MAX_WAITING = 100;

/** The state of a connection since its first request. */
interface Connection {
  isBusy: boolean;
  readonly waiting: (() => void)[];
}

/**
 * Returns a handler that calls `handle` for a request once the response to the one before it on the same connection is sent. `onFlood` is called
 * when a connection is closed because too many requests wait.
 */
export function handleInOrder(handle: Handle, onFlood: () => void): Handle {
  const connections = new WeakMap<Socket, Connection>();
  const begin = (connection: Connection, request: IncomingMessage, response: ServerResponse) => {
    connection.isBusy = true;
    // A request that was destroyed before its end has no socket any more when its response closes.
    const { socket } = request;
    response.once('close', () => {
      connection.isBusy = false;
      if (!socket.destroyed) connection.waiting.shift()?.();
    });
    handle(request, response);
  };
  return (request, response) => {
    // The lean reader reads the next request of a connection when the response to the one before it is sent.
    if (isLean(response)) {
      handle(request, response);
      return;
    }
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
