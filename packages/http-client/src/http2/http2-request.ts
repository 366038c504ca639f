/** One request by HTTP/2 (RFC 9113) that has no response yet: it waits for a connection, or has a stream of one. */
import { type ClientHttp2Session, type ClientHttp2Stream, type IncomingHttpHeaders, constants, sensitiveHeaders } from 'node:http2';
import { type Readable, pipeline } from 'node:stream';
import type { Abortable } from '@trestle/service/process/cancellation';
import { checkField } from '../request-bytes.ts';
import { ClientError, type ClientErrorCode, type ClientRequest, type Progress, type ResponseHandler } from '../upstream-client.ts';
import { Http2Response } from './http2-response.ts';

/** What every request of a client has in common. */
export interface RequestTarget {
  readonly scheme: 'http' | 'https';
  readonly host: string;
  readonly maxResponseBytes: number;
  /** For a whole request; for one whose body is streamed, for each pause. */
  readonly timeoutMs: number;
}

/** How often a request that the server refuses is sent. */
const MAX_ATTEMPTS = 3;
/** Not added to the table of compression, which all requests of a connection share (RFC 7541 §7.1.3). */
const SENSITIVE = ['authorization', 'cookie'];

/** A request without a response. Its handler is called once. */
export class Http2Request implements Abortable {
  readonly client: string | undefined;
  /** On the clock of `performance.now`. */
  readonly deadline: number;
  /** Bytes, without those of a body that is streamed. */
  readonly length: number;
  /** When its stream was opened. */
  sentAt = 0;
  /** Called when it ends, before its handler, or when its connection does not process it: set by what holds the request. */
  onEnd: (isRefused: boolean) => void = () => undefined;
  #attempts = 0;
  readonly #target: RequestTarget;
  readonly #body: string | Readable;
  readonly #headers: Record<string | symbol, string | string[]>;
  readonly #handler: ResponseHandler;
  #stream: ClientHttp2Stream | undefined;
  #response: IncomingHttpHeaders | undefined;
  readonly #chunks: Buffer[] = [];
  #received = 0;
  #hasEnded = false;

  /** Throws INVALID_REQUEST for a header field that must not be sent. */
  constructor(target: RequestTarget, request: ClientRequest<string | Readable>, handler: ResponseHandler) {
    const { client, body, startedAt = performance.now() } = request;
    this.#target = target;
    this.#body = body;
    this.#headers = toHeaders(target, request);
    this.#handler = handler;
    this.client = client;
    this.deadline = startedAt + target.timeoutMs;
    this.length = (typeof body === 'string' ? Buffer.byteLength(body) : 0) + request.headers.join().length;
  }

  /** Opens a stream of the session. */
  start(session: ClientHttp2Session): void {
    this.sentAt = performance.now();
    this.#attempts++;
    let stream: ClientHttp2Stream;
    try {
      stream = this.#stream = session.request(this.#headers);
    } catch (error) {
      this.fail('CONNECTION_LOST', 'The connection takes no more requests.', error);
      return;
    }
    stream
      .on('response', (headers) => (this.#response = headers))
      .on('data', (chunk: Buffer) => {
        this.#take(chunk);
      })
      .once('end', () => {
        if (this.#response && this.#isComplete(this.#response)) this.#complete(this.#response);
      })
      .on('error', (error: Error) => {
        this.#lose(stream, error.message, error);
      })
      .once('close', () => {
        this.#lose(stream, 'The stream was closed before the response was complete.');
      });
    this.#send(stream);
  }

  /** Whether its time limit has passed. That of a streamed body is for its pauses. */
  isOverdue(now: number): boolean {
    return now > this.deadline && typeof this.#body === 'string';
  }

  abort(reason: Error): void {
    this.fail('ABORTED', reason.message, reason);
  }

  /** Ends the request without a response, if it has not ended: its stream is cancelled, and the connection is kept. */
  fail(code: ClientErrorCode, message: string, cause?: unknown): void {
    const progress = this.#progress();
    if (!this.#end()) return;
    this.#cancel();
    this.#handler.onFailure(new ClientError(code, message, { progress, cause }));
  }

  #send(stream: ClientHttp2Stream): void {
    if (typeof this.#body === 'string') stream.end(this.#body);
    else {
      stream.setTimeout(this.#target.timeoutMs, () => {
        this.fail('TIMEOUT', 'Request or response paused for too long.');
      });
      // The stream reports the failure of either side.
      pipeline(this.#body, stream, () => undefined);
    }
  }

  #take(chunk: Buffer): void {
    if (this.#hasEnded) return;
    this.#received += chunk.length;
    const { maxResponseBytes } = this.#target;
    if (this.#received <= maxResponseBytes) this.#chunks.push(chunk);
    else this.fail('RESPONSE_TOO_LARGE', `The response has more than ${String(maxResponseBytes)} bytes.`);
  }

  /** Node.js ends a stream that the server resets without an error like a whole one. Without a length the JSON shows it. */
  #isComplete({ 'content-length': length }: IncomingHttpHeaders): boolean {
    return length === undefined || Number(length) === this.#received;
  }

  #complete(headers: IncomingHttpHeaders): void {
    if (!this.#end()) return;
    // The response to a request that was not read wholly.
    if (!this.#stream?.writableFinished) this.#cancel();
    const [first, ...others] = this.#chunks;
    const bytes = others.length === 0 ? (first ?? Buffer.alloc(0)) : Buffer.concat(this.#chunks, this.#received);
    this.#handler.onResponse(new Http2Response(headers, bytes));
  }

  #end(): boolean {
    if (this.#hasEnded) return false;
    this.#hasEnded = true;
    this.onEnd(false);
    return true;
  }

  #cancel(): void {
    this.#stream?.close(constants.NGHTTP2_CANCEL);
    if (typeof this.#body !== 'string') this.#body.destroy();
  }

  /** Its stream has ended without a response. One that the server has not processed is sent again: many may cross its GOAWAY. */
  #lose(stream: ClientHttp2Stream, message: string, cause?: unknown): void {
    if (this.#hasEnded || stream !== this.#stream) return;
    if (this.#isRefused() && this.#attempts < MAX_ATTEMPTS && typeof this.#body === 'string') {
      this.#stream = undefined;
      this.onEnd(true);
      return;
    }
    // What breaks the rules of HTTP/2 or of its messages resets the stream with this code.
    this.fail(stream.rstCode === constants.NGHTTP2_PROTOCOL_ERROR ? 'INVALID_RESPONSE' : 'CONNECTION_LOST', message, cause);
  }

  #progress(): Progress {
    if (this.#response) return 'responding';
    return this.#stream && !this.#stream.pending && !this.#isRefused() ? 'sent' : 'unsent';
  }

  /** A stream that was refused, or is beyond the last one of a GOAWAY, was not processed (RFC 9113 §8.7). */
  #isRefused(): boolean {
    return !this.#response && this.#stream?.rstCode === constants.NGHTTP2_REFUSED_STREAM;
  }
}

function toHeaders({ scheme, host }: RequestTarget, { path, headers, body }: ClientRequest<string | Readable>) {
  const all: Record<string | symbol, string | string[]> = {
    ':method': 'POST',
    ':scheme': scheme,
    ':authority': host,
    ':path': path,
    [sensitiveHeaders]: SENSITIVE,
  };
  for (let i = 0; i < headers.length; i += 2) {
    const name = (headers[i] as string).toLowerCase();
    const value = headers[i + 1] as string;
    checkField(name, value);
    const before = all[name];
    all[name] = before === undefined ? value : [before, value].flat();
  }
  if (typeof body === 'string') all['content-length'] = String(Buffer.byteLength(body));
  return all;
}
