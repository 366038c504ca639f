/** Transfers of HTTP/1.1 and of upgraded connections, as `traffic.ts` watches them. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { clientOf } from '../clients/client-id.ts';
import { isLean } from './lean-reader/lean-response.ts';
import { isStreamed, patienceOf } from './streamed-body.ts';
import type { Traffic, Transfer } from './traffic.ts';

/** What Node's own timeouts read (net.js, `_onTimeout`): only this shows progress within one large write. */
interface Handle {
  readonly bytesWritten: number;
  readonly writeQueueSize: number;
}

/** Returns how many bytes of a connection the kernel has taken; 0 when it is closed. */
export function sentBytes(socket: Duplex): number {
  const { _handle: handle } = socket as { _handle?: Partial<Handle> | null };
  return handle ? (handle.bytesWritten ?? 0) - (handle.writeQueueSize ?? 0) : 0;
}

/**
 * Returns a function to call with each request of the server before it is handled. It watches connections, not requests: an entry for every request
 * would keep it and its response from one look at all transfers to the next, through several collections of short-lived objects.
 */
export function watchHttp1(server: Server, traffic: Pick<Traffic, 'add'>): (request: IncomingMessage, response: ServerResponse) => void {
  const transfers = new WeakMap<Socket, Http1Transfer>();
  return (request, response) => {
    const { socket } = request;
    let transfer = transfers.get(socket);
    if (!transfer) {
      transfer = new Http1Transfer(server, socket);
      transfers.set(socket, transfer);
      traffic.add(transfer);
    }
    transfer.begin(request, response);
  };
}

/** The requests of one connection of HTTP/1.0 or 1.1, one after the other. */
class Http1Transfer implements Transfer {
  readonly #server: Server;
  readonly #socket: Socket;
  #request: IncomingMessage | undefined;
  #response: ServerResponse | undefined;
  #readBefore = 0;
  #beganAt = 0;
  exchange = 0;

  constructor(server: Server, socket: Socket) {
    this.#server = server;
    this.#socket = socket;
  }

  /** The response to the request before has been sent. */
  begin(request: IncomingMessage, response: ServerResponse): void {
    this.exchange++;
    this.#request = request;
    this.#response = response;
    // A request of the lean reader is whole: nothing asks for what has been received.
    this.#readBefore = isLean(response) ? 0 : this.#socket.bytesRead;
    this.#beganAt = performance.now();
  }

  client(): string {
    return this.#request ? clientOf(this.#request) : '';
  }

  isOver(): boolean {
    return this.#socket.destroyed;
  }

  isReceiving(): boolean {
    if (!this.#request) return false;
    const { complete, destroyed, readableLength, readableHighWaterMark } = this.#request;
    return !complete && !destroyed && readableLength < readableHighWaterMark;
  }

  receivedBytes(): number {
    return this.#socket.bytesRead - this.#readBefore;
  }

  isStreamed(): boolean {
    return this.#request !== undefined && isStreamed(this.#request);
  }

  patience(): number {
    return this.#request === undefined ? 1 : patienceOf(this.#request);
  }

  receivingMs(): number {
    return performance.now() - this.#beganAt;
  }

  sentBytes(): number {
    return sentBytes(this.#socket);
  }

  waitingBytes(): number {
    return this.#response?.writableLength ?? 0;
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
  readonly exchange = 0;
  readonly #socket: Duplex;

  constructor(socket: Duplex) {
    this.#socket = socket;
  }

  client(): string {
    return '';
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

  isStreamed(): boolean {
    return false;
  }

  patience(): number {
    return 1;
  }

  receivingMs(): number {
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
