/** Handles the requests of one HTTP/1.1 connection one after the other, however many a client pipelines (RFC 9112 §9.3.2). */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { isLean } from './lean-reader/lean-response.ts';
import type { ConnectionBytes, PipelinedBytes } from './pipelined-bytes.ts';

/** Handles a request. */
export type Handle = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * A connection with more waiting requests is closed. Browsers do not pipeline, and load generators that do stay below. Without the limit, a
 * client that reads no responses would cause the work of all its requests, whose responses the server would keep. Node.js makes an error for each
 * waiting request of a connection that closes: with a limit of 100, a client with 30 such connections delayed others by 200 ms.
 */
const MAX_WAITING = 32;
/** What the objects of a waiting request take beside its head and its body: 3 KB for a GET, as measured. */
const OBJECT_BYTES = 4096;

/** The state of a connection since its first request. */
interface Connection {
  isBusy: boolean;
  readonly waiting: (() => void)[];
  /** Undefined until a request waits. */
  bytes: ConnectionBytes | undefined;
}

/** What bounds the waiting requests of all connections, and what is called when a connection is closed because too many wait. */
export interface PipelineLimits {
  readonly bytes: PipelinedBytes;
  readonly onFlood: () => void;
}

/** Returns a handler that calls `handle` for a request once the response to the one before it on the same connection is sent. */
export function handleInOrder(handle: Handle, { bytes, onFlood }: PipelineLimits): Handle {
  const connections = new WeakMap<Socket, Connection>();
  const begin = (connection: Connection, request: IncomingMessage, response: ServerResponse) => {
    connection.isBusy = true;
    // A request that was destroyed before its end has no socket any more when its response closes.
    const { socket } = request;
    const proceed = () => {
      connection.isBusy = false;
      // A server must not process what follows its `Connection: close` (RFC 9112 §9.6): the end is sent, and the connection not destroyed yet.
      if (socket.writable) connection.waiting.shift()?.();
    };
    response.once('close', () => {
      // In a later turn of the event loop: the requests of other connections come between those of this one.
      if (connection.waiting.length > 0) setImmediate(proceed);
      else connection.isBusy = false;
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
    // A response with `Connection: close` has been sent, and Node.js still parses the rest of what has arrived: nothing more can be sent.
    if (!socket.writable) return;
    let connection = connections.get(socket);
    if (!connection) {
      connection = { isBusy: false, waiting: [], bytes: undefined };
      connections.set(socket, connection);
    }
    const { isBusy, waiting } = connection;
    if (!isBusy) begin(connection, request, response);
    else {
      const own = connection;
      const held = (own.bytes ??= bytes.open(socket));
      const count = countBytes(request);
      if (waiting.length < MAX_WAITING && held.add(count))
        waiting.push(() => {
          held.remove(count);
          begin(own, request, response);
        });
      else {
        onFlood();
        socket.destroy();
      }
    }
  };
}

/** Returns what a waiting request takes in memory: its objects, its head, and what Node.js reads of its body before it stops reading the connection. */
function countBytes({ url = '', rawHeaders, headers, readableHighWaterMark }: IncomingMessage): number {
  const head = rawHeaders.reduce((sum, text) => sum + text.length, url.length);
  const body = headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : Infinity;
  return OBJECT_BYTES + head + Math.min(body, readableHighWaterMark);
}
