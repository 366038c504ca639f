/** A request that the lean reader has read, with the part of the interface of `IncomingMessage` that handlers of whole requests use. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { LeanEmitter } from './lean-emitter.ts';
import type { RequestHead } from './request-head.ts';

const HIGH_WATER_MARK = 64 * 1024;

/** One request. Its body, if it has one, has arrived wholly, and is emitted in one piece when it is read. */
export class LeanRequest extends LeanEmitter {
  readonly httpVersion = '1.1';
  readonly httpVersionMajor = 1;
  readonly httpVersionMinor = 1;
  readonly socket: Socket;
  readonly method: RequestHead['line']['method'];
  readonly rawHeaders: readonly string[];
  readonly headers: IncomingHttpHeaders;
  url: string;
  /** Whether the whole request has arrived: false while its handler is called, as in Node.js. */
  complete = false;
  destroyed = false;
  #body: Buffer | undefined;
  #isWhole = false;
  #isRead = false;
  #hasEnded = false;

  constructor(socket: Socket, { line, fields }: RequestHead) {
    super();
    this.socket = socket;
    this.method = line.method;
    this.url = line.url;
    this.rawHeaders = fields.rawHeaders;
    this.headers = fields.headers;
  }

  /** Returns the request for handlers, which use no other part of the interface. */
  asIncomingMessage(): IncomingMessage {
    return this as unknown as IncomingMessage;
  }

  get aborted(): boolean {
    return this.destroyed && !this.#hasEnded;
  }

  get readableLength(): number {
    return this.#body?.length ?? 0;
  }

  get readableHighWaterMark(): number {
    return HIGH_WATER_MARK;
  }

  get readableEnded(): boolean {
    return this.#hasEnded;
  }

  /** Adds the body, and then its end (`null`). */
  push(chunk: Buffer | null): boolean {
    if (chunk === null) this.#isWhole = true;
    else this.#body = chunk;
    this.#deliver();
    return true;
  }

  /** Reads the body when a listener for `data` is added. */
  override on(name: string | symbol, listener: (...args: never[]) => void): this {
    super.on(name, listener);
    if (name === 'data') this.#read();
    return this;
  }

  /** Reads the body. Without a listener it is discarded. */
  resume(): this {
    this.#read();
    return this;
  }

  /** Discards what has not been read, and closes the connection unless everything was. */
  destroy(): this {
    if (this.destroyed) return this;
    this.destroyed = true;
    this.#body = undefined;
    if (!this.#hasEnded) this.socket.destroy();
    return this;
  }

  #read(): void {
    this.#isRead = true;
    if (this.#body === undefined && !this.#isWhole) return;
    process.nextTick(() => {
      this.#deliver();
    });
  }

  #deliver(): void {
    if (!this.#isRead || this.destroyed) return;
    const body = this.#body;
    this.#body = undefined;
    if (body) this.emit('data', body);
    if (!this.#isWhole || this.#hasEnded) return;
    this.#hasEnded = true;
    this.emit('end');
    this.removeAllListeners();
  }
}
