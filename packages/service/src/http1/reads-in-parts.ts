/**
 * Passes pipelined requests to the parser of Node.js in parts. Node.js parses all that has arrived in one read, up to 64 KiB: hundreds of requests, each
 * with its objects, even after the connection has been closed because of the first hundred.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionBytes } from './pipelined-bytes.ts';
import type { PipelineLimits } from './pipelining.ts';

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

/** Does so for the connections that a new server gets from now on: nothing else may listen to them yet. `limits` bound what waits to be parsed. */
export function readInParts(server: Server, limits: PipelineLimits): void {
  server.on('connection', (socket: ParsedSocket) => new ConnectionReader(socket, limits));
}

/** Stands between a connection and its parser. */
class ConnectionReader {
  readonly #socket: ParsedSocket;
  readonly #limits: PipelineLimits;
  readonly #parser: ParsedSocket['parser'];
  /** That of Node.js. */
  readonly #listeners: readonly Receive[];
  /** Undefined until something has been held. */
  #held: ConnectionBytes | undefined;
  #heldBytes = 0;
  readonly #receive = (chunk: Buffer) => {
    this.#release();
    if (!this.#hasParser()) return;
    if (isPipelined(chunk)) this.#parseInParts(chunk);
    else this.#parse(chunk);
  };

  constructor(socket: ParsedSocket, limits: PipelineLimits) {
    this.#socket = socket;
    this.#limits = limits;
    this.#parser = socket.parser;
    this.#listeners = socket.listeners('data') as Receive[];
    socket.removeAllListeners('data').on('data', this.#receive);
  }

  /** Returns whether the connection still has its parser, which must not be called afterwards: Node.js gives it to another connection. */
  #hasParser(): boolean {
    if (this.#socket.parser === this.#parser) return true;
    this.#socket.off('data', this.#receive);
    return false;
  }

  /** Returns whether the connection has its parser afterwards. */
  #parse(chunk: Buffer): boolean {
    for (const each of this.#listeners) each.call(this.#socket, chunk);
    return this.#hasParser();
  }

  #parseInParts(chunk: Buffer): void {
    const socket = this.#socket;
    for (let at = 0; at < chunk.length && !socket.destroyed; at += PART_BYTES) {
      if (socket.isPaused()) {
        // Node.js does not read on while its responses are not read, and its parser must not be called then.
        this.#hold(chunk.subarray(at));
        return;
      }
      if (!this.#parse(chunk.subarray(at, at + PART_BYTES))) {
        // A client waits for the response to its upgrade before it sends anything else (RFC 6455 §4.1). A refusal is sent nevertheless.
        if (at + PART_BYTES < chunk.length && socket.writable) socket.destroy();
        return;
      }
    }
  }

  /** Keeps bytes until the connection is read again. */
  #hold(rest: Buffer): void {
    const { bytes, onFlood } = this.#limits;
    this.#held ??= bytes.open(this.#socket);
    if (this.#held.add(rest.length)) {
      this.#heldBytes = rest.length;
      this.#socket.unshift(rest);
    } else {
      onFlood();
      this.#socket.destroy();
    }
  }

  #release(): void {
    if (this.#heldBytes > 0) this.#held?.remove(this.#heldBytes);
    this.#heldBytes = 0;
  }
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
