/**
 * One connection of the lean reader. A request of its shape that arrives in one piece, while no other is in flight, is read here. With the first byte of
 * anything else the connection, with that byte, becomes one of Node.js for the rest of its life: so all that has to wait for bytes is done there.
 */
import type { Socket } from 'node:net';
import type { ConnectionBytes } from '../pipelined-bytes.ts';
import type { PipelineLimits } from '../pipelining.ts';
import { LeanRequest } from './lean-request.ts';
import { LeanResponse, type ResponseOwner } from './lean-response.ts';
import { type FieldLines, type HeadShape, type RequestHead, parseFields, parseRequestLine } from './request-head.ts';

/** What the connections of a server share. */
export interface ConnectionOwner {
  readonly shape: HeadShape;
  readonly keepAliveTimeoutMs: number;
  readonly pipeline: PipelineLimits;
  readonly handle: (request: LeanRequest, response: LeanResponse) => void;
  /** Makes the connection one of Node.js. */
  readonly handOver: (socket: Socket) => void;
  readonly onClosed: (connection: LeanConnection) => void;
}

/** Bytes that may arrive while a response is awaited. Then the connection is not read until the response has been sent. */
const MAX_HELD_BYTES = 32 * 1024;
/** The longest header fields that are kept, to recognize them when the next request repeats them. */
const MAX_KNOWN_BYTES = 2048;

/** A connection that has been accepted. */
export class LeanConnection implements ResponseOwner {
  readonly #socket: Socket;
  readonly #owner: ConnectionOwner;
  readonly #onData = (chunk: Buffer) => {
    this.#receive(chunk);
  };
  readonly #onEnd = () => {
    this.#isEnded = true;
    this.#takeHeld();
    // As Node.js does: a client that ends its side is gone.
    this.#socket.end();
  };
  readonly #onError = () => {
    this.#socket.destroy();
  };
  readonly #onDrain = () => {
    this.#response?.emit('drain');
  };
  readonly #onClose = () => {
    this.#owner.onClosed(this);
    this.#request?.destroy();
    this.#response?.close(false);
  };
  #request: LeanRequest | undefined;
  #response: LeanResponse | undefined;
  /** What has arrived while a response was awaited. */
  #held: Buffer | undefined;
  /** Undefined until something has been held. */
  #heldBytes: ConnectionBytes | undefined;
  #isEnded = false;
  #isRefused = false;
  /** The last header fields, their bytes and their method: clients repeat them. */
  #known: { readonly method: string; readonly bytes: Buffer; readonly fields: FieldLines } | undefined;
  #served = 0;
  /** What {@link idleMs} has seen at its last calls. */
  #servedBefore = 0;
  #idleSince: number;

  constructor(socket: Socket, owner: ConnectionOwner) {
    this.#socket = socket;
    this.#owner = owner;
    this.#idleSince = performance.now();
    socket.on('data', this.#onData).on('end', this.#onEnd).on('error', this.#onError).on('drain', this.#onDrain).on('close', this.#onClose);
  }

  get keepAliveTimeoutMs(): number {
    return this.#owner.keepAliveTimeoutMs;
  }

  /** Whether a request has been answered, and none is in flight. */
  get isIdle(): boolean {
    return this.#response === undefined && this.#served > 0;
  }

  /** Whether no byte has arrived. */
  get isSilent(): boolean {
    return this.#response === undefined && this.#served === 0 && !this.#isRefused;
  }

  get socket(): Socket {
    return this.#socket;
  }

  /** Returns for how long the connection has had no request: since the first call that found it so. To be called several times a second at most. */
  idleMs(now: number): number {
    if (this.#response || this.#served !== this.#servedBefore) {
      this.#servedBefore = this.#served;
      this.#idleSince = now;
      return 0;
    }
    return now - this.#idleSince;
  }

  /** Ignores what arrives from now on: the connection has been refused. */
  refuse(): void {
    this.#isRefused = true;
  }

  /** Called by the response. */
  readonly onSent = (): void => {
    const [request, response, socket] = [this.#request, this.#response, this.#socket];
    if (!response || socket.destroyed) return;
    this.#request = this.#response = undefined;
    this.#served++;
    const { shouldKeepAlive } = response;
    if (!shouldKeepAlive) this.#isRefused = true;
    response.close(true);
    if (!shouldKeepAlive || request?.destroyed === true) socket.destroySoon();
    else this.#proceed();
  };

  #proceed(): void {
    const held = this.#takeHeld();
    if (this.#isEnded || !held) return;
    this.#socket.resume();
    this.#receive(held);
  }

  #takeHeld(): Buffer | undefined {
    const held = this.#held;
    if (held) this.#heldBytes?.remove(held.length);
    this.#held = undefined;
    return held;
  }

  #receive(chunk: Buffer): void {
    if (this.#isRefused || this.#isEnded) return;
    if (this.#response) {
      this.#hold(chunk);
      return;
    }
    const head = this.#parse(chunk);
    if (head && head.line.length + head.fields.length + head.fields.bodyLength === chunk.length) this.#begin(chunk, head);
    else this.#handOver(chunk);
  }

  #hold(chunk: Buffer): void {
    const { bytes, onFlood } = this.#owner.pipeline;
    this.#heldBytes ??= bytes.open(this.#socket);
    if (!this.#heldBytes.add(chunk.length)) {
      onFlood();
      this.#socket.destroy();
      return;
    }
    this.#held = this.#held ? Buffer.concat([this.#held, chunk]) : chunk;
    if (this.#held.length > MAX_HELD_BYTES) this.#socket.pause();
  }

  #parse(chunk: Buffer): RequestHead | undefined {
    const { shape } = this.#owner;
    const line = parseRequestLine(chunk, shape);
    if (!line) return undefined;
    const { method, length: start } = line;
    const known = this.#known;
    if (known?.method === method) {
      const end = start + known.bytes.length;
      if (chunk.length >= end && known.bytes.compare(chunk, start, end) === 0) return { line, fields: known.fields };
    }
    const fields = parseFields(chunk, line, shape);
    if (!fields) return undefined;
    if (fields.length <= MAX_KNOWN_BYTES)
      this.#known = { method, bytes: Buffer.from(chunk.subarray(start, start + fields.length)), fields };
    return { line, fields };
  }

  /** Calls the handler with the head, and then passes on the body, as Node.js does. */
  #begin(chunk: Buffer, head: RequestHead): void {
    const request = new LeanRequest(this.#socket, head);
    const response = new LeanResponse(request, this);
    this.#request = request;
    this.#response = response;
    this.#owner.handle(request, response);
    request.complete = true;
    if (request.destroyed || this.#socket.destroyed) return;
    if (head.fields.bodyLength > 0) request.push(chunk.subarray(head.line.length + head.fields.length));
    request.push(null);
  }

  #handOver(chunk: Buffer): void {
    const socket = this.#socket;
    socket
      .off('data', this.#onData)
      .off('end', this.#onEnd)
      .off('error', this.#onError)
      .off('drain', this.#onDrain)
      .off('close', this.#onClose);
    this.#owner.onClosed(this);
    this.#owner.handOver(socket);
    // Node.js has its listener now, and must get these bytes before those that it reads itself.
    socket.emit('data', chunk);
  }
}
