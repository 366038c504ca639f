/**
 * Passes pipelined requests to the parser of Node.js in parts. Node.js parses all that has arrived in one read, up to 64 KiB: hundreds of requests, each
 * with its objects, even after the connection has been closed because of the first hundred.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

type Receive = (chunk: Buffer) => void;

/** A connection of Node.js has a parser until it changes to another protocol, also by a CONNECT that is refused. */
interface ParsedSocket extends Socket {
  readonly parser?: object | null;
}

/** Some fifty of the smallest requests. */
const PART_BYTES = 2048;
/** What has fewer empty lines is passed on as a whole: it is a part of a body, or few requests. */
const MIN_EMPTY_LINES = 8;
const EMPTY_LINE = Buffer.from('\r\n\r\n');

/** Does so for the connections that a new server gets from now on: nothing else may listen to them yet. */
export function readInParts(server: Server): void {
  server.on('connection', (socket: ParsedSocket) => {
    const { parser } = socket;
    const parsers = socket.listeners('data') as Receive[];
    /** Returns whether the connection still has its parser, which must not be called afterwards: Node.js gives it to another connection. */
    const hasParser = () => {
      if (socket.parser === parser) return true;
      socket.off('data', receive);
      return false;
    };
    const parse = (chunk: Buffer) => {
      for (const each of parsers) each.call(socket, chunk);
      return hasParser();
    };
    const receive = (chunk: Buffer) => {
      if (!hasParser()) return;
      if (!isPipelined(chunk)) {
        parse(chunk);
        return;
      }
      for (let at = 0; at < chunk.length && !socket.destroyed; at += PART_BYTES) {
        if (socket.isPaused()) {
          // Node.js does not read on while its responses are not read, and its parser must not be called then.
          socket.unshift(chunk.subarray(at));
          return;
        }
        if (!parse(chunk.subarray(at, at + PART_BYTES))) {
          // A client waits for the response to its upgrade before it sends anything else (RFC 6455 §4.1). A refusal is sent nevertheless.
          if (at + PART_BYTES < chunk.length && socket.writable) socket.destroy();
          return;
        }
      }
    };
    socket.removeAllListeners('data').on('data', receive);
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
