/**
 * Passes pipelined requests to the parser of Node.js in parts. Node.js parses all that has arrived in one read, up to 64 KiB: hundreds of requests, each
 * with its objects, even after the connection has been closed because of the first hundred.
 */
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionBytes } from './pipelined-bytes.ts';
import type { PipelineLimits } from './pipelining.ts';

type Receive = (chunk: Buffer) => void;

/** Some fifty of the smallest requests. */
const PART_BYTES = 2048;
/** What has fewer empty lines is passed on as a whole: it is a part of a body, or few requests. */
const MIN_EMPTY_LINES = 8;
const EMPTY_LINE = Buffer.from('\r\n\r\n');

/** Bounds what waits to be parsed. */
export interface PartsOptions extends PipelineLimits {
  readonly hasUpgrades: boolean;
}

/** Does so for the connections that a new server gets from now on: nothing else may listen to them yet. */
export function readInParts(server: Server, { hasUpgrades, bytes, onFlood }: PartsOptions): void {
  const receivers = new WeakMap<object, Receive>();
  server.on('connection', (socket: Socket) => {
    const parsers = socket.listeners('data') as Receive[];
    const parse = (chunk: Buffer) => {
      for (const each of parsers) each.call(socket, chunk);
    };
    let held: ConnectionBytes | undefined;
    let heldBytes = 0;
    const hold = (rest: Buffer) => {
      held ??= bytes.open(socket);
      if (held.add(rest.length)) {
        heldBytes = rest.length;
        socket.unshift(rest);
      } else {
        onFlood();
        socket.destroy();
      }
    };
    const receive = (chunk: Buffer) => {
      if (heldBytes > 0) held?.remove(heldBytes);
      heldBytes = 0;
      if (!isPipelined(chunk)) {
        parse(chunk);
        return;
      }
      for (let at = 0; at < chunk.length && !socket.destroyed; at += PART_BYTES) {
        if (!socket.listeners('data').includes(receive)) {
          // A client waits for the response to its upgrade before it sends anything else (RFC 6455 §4.1).
          socket.destroy();
        } else if (socket.isPaused()) {
          // Node.js does not read on while its responses are not read, and its parser must not be called then.
          hold(chunk.subarray(at));
          return;
        } else parse(chunk.subarray(at, at + PART_BYTES));
      }
    };
    socket.removeAllListeners('data').on('data', receive);
    receivers.set(socket, receive);
  });
  if (!hasUpgrades) return;
  server.on('upgrade', (_: IncomingMessage, socket: Socket) => {
    const receive = receivers.get(socket);
    if (receive) socket.off('data', receive);
  });
}

/** Returns whether the bytes may have so many requests in them that their parsing takes long. */
function isPipelined(chunk: Buffer): boolean {
  if (chunk.length <= PART_BYTES) return false;
  let count = 0;
  for (let at = chunk.indexOf(EMPTY_LINE); at >= 0; at = chunk.indexOf(EMPTY_LINE, at + EMPTY_LINE.length)) {
    if (++count === MIN_EMPTY_LINES) return true;
  }
  return false;
}
