/** A response to a request of the lean reader, with the part of the interface of `ServerResponse` that handlers use: one write where that is possible. */
import type { OutgoingHttpHeader, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { addedListsOf } from '../../messages/response-headers.ts';
import { LeanEmitter } from './lean-emitter.ts';
import type { LeanRequest } from './lean-request.ts';
import { writeHead } from './response-head.ts';

type Chunk = string | Uint8Array;
type Done = () => void;

/** A larger body is written beside its head rather than copied behind it. */
const SMALL_BYTES = 16 * 1024;
const NOTHING = Buffer.alloc(0);

/** What a response reports to its connection. */
export interface ResponseOwner {
  readonly keepAliveTimeoutMs: number;
  /** Called when the kernel has taken the whole response. */
  readonly onSent: () => void;
}

/** Whether a response is one of the lean reader, which sends head and body in one write. */
export function isLean(response: object): boolean {
  return response instanceof LeanResponse;
}

/** One response. It emits `prefinish`, `finish` and `close` as a response of Node.js does. */
export class LeanResponse extends LeanEmitter {
  readonly req: LeanRequest;
  readonly socket: Socket;
  readonly #owner: ResponseOwner;
  statusCode = 200;
  headersSent = false;
  destroyed = false;
  writableEnded = false;
  writableFinished = false;
  shouldKeepAlive = true;
  #set: Map<string, readonly [name: string, value: OutgoingHttpHeader]> | undefined;
  /** The head, until it is written together with what follows. */
  #head: string | undefined;
  #hasLength = false;
  #isChunked = false;

  constructor(request: LeanRequest, owner: ResponseOwner) {
    super();
    this.req = request;
    this.socket = request.socket;
    this.#owner = owner;
  }

  /** Returns the response for handlers, which use no other part of the interface. */
  asServerResponse(): ServerResponse {
    return this as unknown as ServerResponse;
  }

  /** Bytes that the kernel has not taken yet. */
  get writableLength(): number {
    return this.socket.writableLength;
  }

  setHeader(name: string, value: OutgoingHttpHeader): this {
    if (this.headersSent) throw new Error('The head of the response has been written.');
    (this.#set ??= new Map<string, readonly [string, OutgoingHttpHeader]>()).set(name.toLowerCase(), [name, value]);
    return this;
  }

  getHeader(name: string): OutgoingHttpHeader | undefined {
    return this.#set?.get(name.toLowerCase())?.[1];
  }

  /** Fixes the head. It is sent with the first part of the body. */
  writeHead(status: number, first?: unknown, second?: unknown): this {
    if (this.headersSent) throw new Error('The head of the response has been written.');
    const { added, late } = addedListsOf(this, status);
    const { keepAliveTimeoutMs } = this.#owner;
    const own = typeof first === 'string' ? second : first;
    const fields = { own, set: this.#set, added, late, isKeptAlive: this.shouldKeepAlive, keepAliveTimeoutMs };
    const { text, hasLength, isKeptAlive } = writeHead(status, fields);
    this.statusCode = status;
    this.headersSent = true;
    this.shouldKeepAlive = isKeptAlive;
    this.#head = text;
    this.#hasLength = hasLength || !hasBody(status);
    return this;
  }

  /** Sends a part of the body, in chunks unless the head has a length. Returns false when the client reads too slowly (`drain`). */
  write(chunk: Chunk, encoding?: BufferEncoding): boolean {
    if (this.destroyed || this.writableEnded) return false;
    if (!this.headersSent) this.writeHead(this.statusCode);
    if (!this.#hasLength && this.#head !== undefined) {
      this.#isChunked = true;
      this.#head += 'Transfer-Encoding: chunked\r\n';
    }
    const head = this.#takeHead();
    if (!this.#isChunked) return this.#send(head, toWritable(chunk, encoding), undefined);
    const bytes = toBytes(chunk, encoding);
    // An empty chunk would end the body.
    if (bytes.length === 0) return this.#send(head, NOTHING, undefined);
    return this.#send(`${head}${bytes.length.toString(16)}\r\n`, Buffer.concat([bytes, Buffer.from('\r\n')]), undefined);
  }

  /** Sends the rest of the response. `done` is called when the kernel has taken it. */
  end(chunk?: Chunk | Done | null, encoding?: BufferEncoding | Done, done?: Done): this {
    if (typeof chunk === 'function') return this.end(undefined, undefined, chunk);
    if (typeof encoding === 'function') return this.end(chunk, undefined, encoding);
    if (this.destroyed || this.writableEnded) return this;
    if (done) this.once('finish', done);
    if (!this.headersSent) this.writeHead(this.statusCode);
    const body = chunk === undefined || chunk === null ? NOTHING : toWritable(chunk, encoding);
    if (this.#isChunked) {
      if (body.length > 0) this.write(body, 'latin1');
      this.writableEnded = true;
      this.#send('0\r\n\r\n', NOTHING, this.#owner.onSent);
    } else {
      this.writableEnded = true;
      if (!this.#hasLength && this.#head !== undefined) this.#head += `Content-Length: ${String(body.length)}\r\n`;
      this.#send(this.#takeHead(), body, this.#owner.onSent);
    }
    this.emit('prefinish');
    return this;
  }

  /** Closes the connection. What has not been sent is lost. */
  destroy(): this {
    this.socket.destroy();
    return this;
  }

  /** Called by the connection when the response has been sent, or can no longer be. */
  close(isSent: boolean): void {
    if (this.destroyed) return;
    // As in Node.js: a response that was ended counts as finished, also when its connection is lost before the kernel has taken all of it.
    this.writableFinished = this.writableEnded;
    if (isSent) this.emit('finish');
    this.destroyed = true;
    this.emit('close');
    // The connection keeps its last response until the next, without what the listeners refer to.
    this.removeAllListeners();
  }

  #takeHead(): string {
    const head = this.#head;
    this.#head = undefined;
    return head === undefined ? '' : `${head}\r\n`;
  }

  /** Writes once, unless the body is large. A string is one of `latin1`, whose characters are bytes. */
  #send(head: string, body: string | Uint8Array, onSent: (() => void) | undefined): boolean {
    const { socket } = this;
    if (typeof body === 'string') return socket.write(head + body, 'latin1', onSent);
    if (body.length === 0) return head === '' && !onSent ? true : socket.write(head, 'latin1', onSent);
    if (head === '') return socket.write(body, onSent);
    if (body.length <= SMALL_BYTES) {
      const whole = Buffer.allocUnsafe(head.length + body.length);
      whole.write(head, 'latin1');
      whole.set(body, head.length);
      return socket.write(whole, onSent);
    }
    socket.cork();
    socket.write(head, 'latin1');
    const isTaken = socket.write(body, onSent);
    socket.uncork();
    return isTaken;
  }
}

/** RFC 9110 §6.4.1; the method is GET or POST. */
function hasBody(status: number): boolean {
  return status >= 200 && status !== 204 && status !== 304;
}

function toWritable(chunk: Chunk, encoding: BufferEncoding | undefined): Chunk {
  return typeof chunk === 'string' && encoding !== 'latin1' ? Buffer.from(chunk, encoding) : chunk;
}

function toBytes(chunk: Chunk, encoding: BufferEncoding | undefined): Uint8Array {
  return typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk;
}
