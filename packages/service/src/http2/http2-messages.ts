/** HTTP/2 requests and responses with the interface of HTTP/1.1, and their transfer for `traffic.ts`. */
import { Http2ServerRequest, Http2ServerResponse, type ServerHttp2Stream, constants } from 'node:http2';
import { clientOf } from '../clients/client-id.ts';
import { addedHeadersOf, mergeHeaders } from '../messages/response-headers.ts';
import { isStreamed, patienceOf } from '../http1/streamed-body.ts';
import type { Transfer } from '../http1/traffic.ts';

/** A request with the interface of HTTP/1.1. */
export class Request extends Http2ServerRequest {
  /** The received bytes of the body. */
  received = 0;

  constructor(...args: ConstructorParameters<typeof Http2ServerRequest>) {
    super(...args);
    // HTTP/2 sends the host in a pseudo-header (RFC 9113 §8.3.1).
    const { headers } = this;
    if (headers[':authority'] !== undefined) headers.host ??= headers[':authority'];
    // An empty body that came in a frame of its own has ended before the request was created, and its stream emits no further `end`.
    if (this.stream.readableEnded) this.push(null);
  }

  /** A body that is cut off emits `close` without `end`. */
  override push(chunk: unknown, encoding?: BufferEncoding): boolean {
    if (chunk !== null) this.received += (chunk as Buffer).length;
    if (chunk !== null || isWhole(this.stream)) return super.push(chunk, encoding);
    this.destroy();
    return false;
  }
}

/** A stream shows no progress within one write: so many bytes a client must read in the time for which it may read none. */
const PIECE_BYTES = 16 * 1024;

/** Headers of a connection are forbidden in HTTP/2 (RFC 9113 §8.2.2). */
const CONNECTION_HEADERS = new Set(['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade']);

/** A response with the interface of HTTP/1.1: headers are an object or a flat list, and those of the connection are left out. */
export class Response extends Http2ServerResponse<Request> {
  /** Bytes of a large body that the stream has taken. */
  sent = 0;
  #rest: Buffer | undefined;

  /** Bytes that are still to be sent. */
  get unsentBytes(): number {
    return (this.#rest?.length ?? 0) + this.stream.writableLength;
  }

  /** Bytes of the body that have been written, sent or not. */
  get size(): number {
    return this.sent + this.unsentBytes;
  }

  /** Writes a large body in pieces, because a stream shows no progress within one write. Emits `prefinish` as a response of HTTP/1.1 does. */
  override end(...args: unknown[]): this {
    this.#end(args);
    this.emit('prefinish');
    return this;
  }

  #end(args: unknown[]): void {
    const [chunk] = args;
    const done = args.at(-1);
    const isLarge = (typeof chunk === 'string' || Buffer.isBuffer(chunk)) && chunk.length > PIECE_BYTES;
    if (!isLarge || this.req.method === 'HEAD') {
      (super.end as (...all: unknown[]) => this)(...args);
      return;
    }
    this.#rest = typeof chunk === 'string' ? Buffer.from(chunk, typeof args[1] === 'string' ? (args[1] as BufferEncoding) : 'utf8') : chunk;
    this.#sendNext(typeof done === 'function' ? (done as () => void) : undefined);
  }

  #sendNext(done: (() => void) | undefined): void {
    const rest = this.#rest as Buffer;
    const piece = rest.subarray(0, PIECE_BYTES);
    this.#rest = rest.length > PIECE_BYTES ? rest.subarray(PIECE_BYTES) : undefined;
    if (!this.#rest) {
      super.end(piece, done);
      return;
    }
    this.write(piece, (error?: Error | null) => {
      if (error) return;
      this.sent += piece.length;
      this.#sendNext(done);
    });
  }

  override writeHead(status: number, ...rest: unknown[]): this {
    const headers = mergeHeaders(rest.at(-1), addedHeadersOf(this, status));
    for (const [name, value] of toEntries(headers)) if (!CONNECTION_HEADERS.has(name.toLowerCase())) this.setHeader(name, value);
    return super.writeHead(status);
  }

  static {
    // When the client disconnects, Node ends the stream and reports the response as finished. Handlers need to know that it was not sent.
    define(this.prototype, 'writableFinished', (stream) => stream.writableFinished && !stream.aborted);
    // Responses of HTTP/1.1 have these; without them every question whether the client has disconnected is answered with undefined.
    define(this.prototype, 'destroyed', (stream) => stream.destroyed || stream.closed);
    define(this.prototype, 'closed', (stream) => stream.destroyed || stream.closed);
    define(this.prototype, 'writableNeedDrain', (stream) => stream.writableNeedDrain);
  }
}

/** Defines a property of responses that their stream has. TypeScript does not let an accessor override a property. */
function define(prototype: object, name: string, read: (stream: ServerHttp2Stream) => boolean): void {
  Object.defineProperty(prototype, name, {
    get(this: Response) {
      return read(this.stream);
    },
  });
}

function toEntries(headers: readonly unknown[]): [string, string | string[]][] {
  const entries = new Map<string, string | string[]>();
  for (let i = 0; i < headers.length; i += 2) {
    const [name, value] = [(headers[i] as string).toLowerCase(), headers[i + 1] as string | string[]];
    const known = entries.get(name);
    entries.set(name, known === undefined ? value : [known, value].flat());
  }
  return [...entries];
}

/** The transfer of one stream. */
export class Http2Transfer implements Transfer {
  readonly exchange = 0;
  readonly #request: Request;
  readonly #response: Response;
  readonly #stream: ServerHttp2Stream;
  readonly #beganAt = performance.now();
  readonly refuse: () => void;

  constructor({ request, response, refuse }: { request: Request; response: Response; refuse: () => void }) {
    this.#request = request;
    this.#response = response;
    this.#stream = request.stream;
    this.refuse = refuse;
  }

  client(): string {
    return clientOf(this.#request);
  }

  isOver(): boolean {
    return this.#stream.closed || this.#stream.destroyed;
  }

  isReceiving(): boolean {
    const { readableLength, readableHighWaterMark, destroyed } = this.#request;
    return !destroyed && !isWhole(this.#stream) && readableLength < readableHighWaterMark;
  }

  receivedBytes(): number {
    return this.#request.received;
  }

  isStreamed(): boolean {
    return isStreamed(this.#request);
  }

  patience(): number {
    return patienceOf(this.#request);
  }

  receivingMs(): number {
    return performance.now() - this.#beganAt;
  }

  sentBytes(): number {
    return this.#response.sent - this.#stream.writableLength;
  }

  waitingBytes(): number {
    return this.#response.unsentBytes;
  }

  cut(): void {
    this.#stream.close(constants.NGHTTP2_CANCEL);
    this.#stream.destroy();
  }

  /** When a client resets a stream with NO_ERROR, Node keeps what waits to be sent, and emits no `close`, until the connection ends. */
  release(): void {
    if (this.#stream.writableLength > 0) this.#stream.destroy();
  }
}

/** Returns whether the whole request has arrived. */
export function isWhole(stream: ServerHttp2Stream): boolean {
  return stream.endAfterHeaders || (stream.readableEnded && !stream.aborted);
}
