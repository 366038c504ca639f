/** Reads the response to one request from a connection, in whatever parts it arrives. No I/O: it lends the buffers that the socket fills. */
import type { ClientResponse } from './upstream-client.ts';
import { ChunkedBody, bodyTooLarge } from './chunked-body.ts';
import { CHUNKED, isPersistent, readBodyLength, readKeepAlive } from './framing.ts';
import { KeptBuffers } from '@trestle/service/process/kept-buffers';
import { invalid } from './response-errors.ts';
import { ResponseHead } from './response-head.ts';

/** The length of the buffer that all connections share. */
export const SCRATCH_BYTES = 64 * 1024;

/**
 * Every connection of the process reads into this buffer first: a read and what is made of it are one synchronous step. Most responses arrive in
 * one read and are handed over where they lie, so they need no buffer of their own.
 */
const SCRATCH = Buffer.allocUnsafeSlow(SCRATCH_BYTES);
/** Up to this size a buffer is made for the whole body that the head states; beyond, it grows with what has arrived. */
const MAX_TRUSTED_BYTES = 4 * 1024 * 1024;
const MIN_BUFFER_BYTES = 8 * 1024;
/** Responses from this size on are read into buffers that all connections use again. Smaller memory costs less to get. */
const KEPT_BYTES = 128 * 1024;
const KEPT = new KeptBuffers({ smallest: KEPT_BYTES, largest: MAX_TRUSTED_BYTES, maxBytes: 8 * 1024 * 1024 });

type Phase = 'head' | 'length' | 'chunks' | 'until close' | 'complete';

/** A reader of one response after another. After a response is complete, the next read begins the next response. */
export class ResponseReader implements ClientResponse {
  bytes: Buffer = SCRATCH;
  bodyStart = 0;
  bodyEnd = 0;
  readonly #maxBytes: number;
  readonly #head = new ResponseHead();
  readonly #chunks: ChunkedBody;
  #phase: Phase = 'head';
  /** How many bytes of the response have arrived. It always begins at 0. */
  #end = 0;
  /** Where the complete response ends. */
  #responseEnd = 0;

  /** `maxBytes` limits the body. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.#chunks = new ChunkedBody(maxBytes);
  }

  get status(): number {
    return this.#head.status;
  }

  /** Whether nothing followed the response. What follows may be a second response, which nobody requested. */
  get isExact(): boolean {
    return this.#end === this.#responseEnd;
  }

  /** Whether the response has a buffer of its own, and handling it may take milliseconds. */
  get isLarge(): boolean {
    return this.bytes !== SCRATCH && this.bodyEnd - this.bodyStart >= KEPT_BYTES;
  }

  /** Whether the server keeps the connection open after this response. */
  get isPersistent(): boolean {
    return isPersistent(this.#head);
  }

  /** Returns the number of a parameter of the response's `Keep-Alive`. */
  readKeepAlive(parameter: 'timeout' | 'max'): number | undefined {
    return readKeepAlive(this.#head, parameter);
  }

  header(name: string): string | undefined {
    const field = this.#head.find(name);
    if (field < 0) return undefined;
    return this.#head.find(name, field + 1) < 0 ? this.#head.value(field) : this.headerValues(name).join(', ');
  }

  headerValues(name: string): readonly string[] {
    const values: string[] = [];
    for (let field = this.#head.find(name); field >= 0; field = this.#head.find(name, field + 1)) values.push(this.#head.value(field));
    return values;
  }

  /** Returns where the socket puts what it reads next. It has room for at least one byte. */
  nextBuffer(): Buffer {
    return this.bytes === SCRATCH ? SCRATCH : this.bytes.subarray(this.#end);
  }

  /**
   * Takes the bytes that the socket put into the buffer. Returns whether the response is complete: it can then be read until {@link release}.
   * Throws ClientError for what is no HTTP/1.1 response, and for one that exceeds a limit.
   */
  read(count: number): boolean {
    if (this.#phase === 'complete') this.#begin();
    this.#end += count;
    if (this.#phase === 'head' && !this.#readHeads()) return false;
    if (this.#readBody()) {
      this.#phase = 'complete';
      return true;
    }
    this.#keep();
    return false;
  }

  /** The server sends no more. Returns whether that completes the response. */
  finish(): boolean {
    if (this.#phase !== 'until close') return false;
    this.#phase = 'complete';
    return true;
  }

  /** Lets go of the response, and of its buffer if it has one of its own. */
  release(): void {
    this.#replaceBytes(SCRATCH);
    this.#head.release();
  }

  #begin(): void {
    this.#phase = 'head';
    this.#end = 0;
    this.#head.begin(0);
  }

  /** Returns whether the head of the final response is complete. Interim responses are skipped (RFC 9110 §15.2). */
  #readHeads(): boolean {
    for (;;) {
      const end = this.#head.read(this.bytes, this.#end);
      if (end < 0) {
        this.#keep();
        return false;
      }
      const { status } = this.#head;
      if (status >= 200) {
        this.#beginBody(end);
        return true;
      }
      if (status === 101) throw invalid('The server changed the protocol without a request to do so.');
      this.#head.begin(end);
    }
  }

  #beginBody(start: number): void {
    const length = readBodyLength(this.#head);
    if (length > this.#maxBytes) throw bodyTooLarge(this.#maxBytes);
    this.bodyStart = start;
    this.bodyEnd = length < 0 ? start : start + length;
    this.#phase = length >= 0 ? 'length' : length === CHUNKED ? 'chunks' : 'until close';
    if (length === CHUNKED) this.#chunks.begin(start);
  }

  #readBody(): boolean {
    if (this.#phase === 'length') {
      this.#responseEnd = this.bodyEnd;
      return this.#end >= this.bodyEnd;
    }
    if (this.#phase === 'chunks') {
      const chunks = this.#chunks;
      if (!chunks.read(this.bytes, this.#end)) return false;
      this.bodyStart = chunks.start;
      this.bodyEnd = chunks.end;
      this.#responseEnd = chunks.position;
      return true;
    }
    this.bodyEnd = this.#responseEnd = this.#end;
    if (this.bodyEnd - this.bodyStart > this.#maxBytes) throw bodyTooLarge(this.#maxBytes);
    return false;
  }

  /** Keeps an incomplete response out of the shared buffer, with room for more. */
  #keep(): void {
    if (this.#phase === 'chunks' && this.#end > MIN_BUFFER_BYTES) this.#end = this.#chunks.compact(this.bytes, this.#end);
    const isStated = this.#phase === 'length' && this.bodyEnd <= MAX_TRUSTED_BYTES;
    const hasRoom = this.#end < this.bytes.length;
    if (this.bytes !== SCRATCH && hasRoom) return;
    const grown = Math.max(this.#end * 2, MIN_BUFFER_BYTES);
    const least = isStated ? this.bodyEnd : this.#phase === 'length' ? Math.min(grown, this.bodyEnd) : grown;
    const kept = least < KEPT_BYTES ? Buffer.allocUnsafeSlow(least) : KEPT.take(least);
    this.bytes.copy(kept, 0, 0, this.#end);
    this.#replaceBytes(kept);
  }

  /** The connection's next read is into these bytes: those before are free. */
  #replaceBytes(bytes: Buffer): void {
    if (this.bytes !== SCRATCH) KEPT.give(this.bytes);
    this.bytes = bytes;
  }
}
