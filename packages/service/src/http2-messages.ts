/** Requests and responses of HTTP/2 as handlers know them from HTTP/1.1, and their transfer as `traffic.ts` watches it. */
import { Http2ServerRequest, Http2ServerResponse, type ServerHttp2Stream, constants } from 'node:http2';
import type { Transfer } from './traffic.ts';

/** A request as handlers know it from HTTP/1.1. */
export class Request extends Http2ServerRequest {
  /** Bytes of the body that came. */
  received = 0;

  constructor(...args: ConstructorParameters<typeof Http2ServerRequest>) {
    super(...args);
    // The target's host has a name of its own in HTTP/2.
    const { headers } = this;
    if (headers[':authority'] !== undefined) headers.host ??= headers[':authority'];
  }

  /** Of a body that breaks off there is no end, only a close. */
  override push(chunk: unknown, encoding?: BufferEncoding): boolean {
    if (chunk !== null) this.received += (chunk as Buffer).length;
    if (chunk !== null || isWhole(this.stream)) return super.push(chunk, encoding);
    this.destroy();
    return false;
  }
}

const PIECE_BYTES = 64 * 1024;

/** What speaks of a connection has no place in HTTP/2 (RFC 9113 §8.2.2). */
const OF_CONNECTION = new Set(['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade']);

/** An answer as handlers write it for HTTP/1.1: headers as an object or as a flat list, those of the connection among them. */
export class Response extends Http2ServerResponse<Request> {
  /** Bytes that the stream has taken of a large body, and what is left of it. */
  sent = 0;
  #rest: Buffer | undefined;

  get unsentBytes(): number {
    return (this.#rest?.length ?? 0) + this.stream.writableLength;
  }

  /** Hands over a large body piece by piece: the stream shows no progress within one write, however large. */
  override end(...args: unknown[]): this {
    const [chunk] = args;
    const done = args.at(-1);
    const isLarge = (typeof chunk === 'string' || Buffer.isBuffer(chunk)) && chunk.length > PIECE_BYTES;
    if (!isLarge || this.req.method === 'HEAD') return (super.end as (...all: unknown[]) => this)(...args);
    this.#rest = typeof chunk === 'string' ? Buffer.from(chunk, typeof args[1] === 'string' ? (args[1] as BufferEncoding) : 'utf8') : chunk;
    this.#sendNext(typeof done === 'function' ? (done as () => void) : undefined);
    return this;
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
    const headers = rest.at(-1);
    for (const [name, value] of toEntries(headers)) if (!OF_CONNECTION.has(name.toLowerCase())) this.setHeader(name, value);
    return super.writeHead(status);
  }

  static {
    // Node ends the stream of a client that went away and takes that for an answer; handlers want to know that nobody had it.
    Object.defineProperty(this.prototype, 'writableFinished', {
      get(this: Response) {
        return this.stream.writableFinished && !this.stream.aborted;
      },
    });
  }
}

function toEntries(headers: unknown): [string, string | string[]][] {
  if (!Array.isArray(headers))
    return typeof headers === 'object' && headers !== null ? (Object.entries(headers) as [string, string | string[]][]) : [];
  const entries = new Map<string, string | string[]>();
  for (let i = 0; i < headers.length; i += 2) {
    const [name, value] = headers.slice(i, i + 2) as [string, string];
    const known = entries.get(name);
    entries.set(name, known === undefined ? value : [known, value].flat());
  }
  return [...entries];
}

/** One stream. */
export class Http2Transfer implements Transfer {
  readonly exchange = 0;
  readonly #request: Request;
  readonly #response: Response;
  readonly #stream: ServerHttp2Stream;
  readonly refuse: () => void;

  constructor({ request, response, refuse }: { request: Request; response: Response; refuse: () => void }) {
    this.#request = request;
    this.#response = response;
    this.#stream = request.stream;
    this.refuse = refuse;
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
}

/** Whether all of the request has come. */
export function isWhole(stream: ServerHttp2Stream): boolean {
  return stream.endAfterHeaders || (stream.readableEnded && !stream.aborted);
}
