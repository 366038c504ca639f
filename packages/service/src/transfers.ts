/** Transfers of HTTP/1.1 and of upgraded connections, as `traffic.ts` watches them. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Transfer } from './traffic.ts';

/** What Node's own timeouts look at (net.js, `_onTimeout`): the only place that shows progress within one large write. */
interface Handle {
  readonly bytesWritten: number;
  readonly writeQueueSize: number;
}

/** Returns how many bytes of a connection the kernel has taken; 0 when it is closed. */
export function sentBytes(socket: Duplex): number {
  const { _handle: handle } = socket as { _handle?: Partial<Handle> | null };
  return handle ? (handle.bytesWritten ?? 0) - (handle.writeQueueSize ?? 0) : 0;
}

/** A request of HTTP/1.0 or 1.1. */
export class Http1Transfer implements Transfer {
  readonly #server: Server;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #socket: Socket;
  readonly #readBefore: number;

  constructor(server: Server, { request, response }: { request: IncomingMessage; response: ServerResponse }) {
    this.#server = server;
    this.#request = request;
    this.#response = response;
    this.#socket = request.socket;
    this.#readBefore = request.socket.bytesRead;
  }

  isOver(): boolean {
    return this.#socket.destroyed || (this.#response.writableFinished && this.#request.complete);
  }

  isReceiving(): boolean {
    const { complete, destroyed, readableLength, readableHighWaterMark } = this.#request;
    return !complete && !destroyed && readableLength < readableHighWaterMark;
  }

  receivedBytes(): number {
    return this.#socket.bytesRead - this.#readBefore;
  }

  sentBytes(): number {
    return sentBytes(this.#socket);
  }

  waitingBytes(): number {
    return this.#response.writableLength;
  }

  refuse(): void {
    // As Node does for a request that exceeds its own limits of time.
    this.#server.emit('clientError', Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), this.#socket);
  }

  cut(): void {
    this.#socket.destroy();
  }
}

/** A connection that speaks another protocol now, such as WebSocket. */
export class UpgradedTransfer implements Transfer {
  readonly #socket: Duplex;

  constructor(socket: Duplex) {
    this.#socket = socket;
  }

  isOver(): boolean {
    return this.#socket.destroyed;
  }

  isReceiving(): boolean {
    return false;
  }

  receivedBytes(): number {
    return 0;
  }

  sentBytes(): number {
    return sentBytes(this.#socket);
  }

  waitingBytes(): number {
    return this.#socket.writableLength;
  }

  refuse(): void {
    this.cut();
  }

  cut(): void {
    this.#socket.destroy();
  }
}
