/** One connection to a server, which carries one request at a time (no pipelining: a slow response would delay those behind it). */
import type { Socket } from 'node:net';
import { ClientError, type ClientErrorCode, type Progress } from './upstream-client.ts';
import { deliverLarge } from './large-responses.ts';
import { type SocketTarget, openSocket } from './open-socket.ts';
import type { PendingRequest } from './pending-request.ts';
import { ResponseReader } from './response-reader.ts';

/** Where a connection leads, and its limits. */
export interface ConnectionTarget extends SocketTarget {
  readonly maxResponseBytes: number;
  /** How long a connection without a hint of the server is kept when it is idle. */
  readonly idleMs: number;
  /** The same for one with a hint of the server that is longer. */
  readonly maxIdleMs: number;
}

/** What a connection reports to its pool. */
export interface ConnectionOwner {
  /** The connection has no request any more, and can take the next. */
  onFree(connection: Connection): void;
  /** The connection takes no further request. */
  onClosed(connection: Connection): void;
}

/** The connection is closed before the server closes it: a request that crosses the end of the connection fails. */
const KEEP_ALIVE_MARGIN_MS = 1000;

/** One connection, from its opening to its end. */
export class Connection {
  readonly #owner: ConnectionOwner;
  readonly #target: ConnectionTarget;
  #reader: ResponseReader;
  readonly #openBy: number;
  #socket: Socket | undefined;
  #request: PendingRequest | undefined;
  #progress: Progress = 'unsent';
  #isOpen = false;
  #isClosed = false;
  #idleUntil = Infinity;

  /** `openBy` is the deadline for {@link open}, on the clock of `performance.now`. */
  constructor(target: ConnectionTarget, owner: ConnectionOwner, openBy: number) {
    this.#target = target;
    this.#owner = owner;
    this.#openBy = openBy;
    this.#reader = new ResponseReader(target.maxResponseBytes);
  }

  /** Opens the connection. */
  open(): void {
    this.#socket = this.#connect()
      .setNoDelay(true)
      .once(this.#target.tls ? 'secureConnect' : 'connect', () => {
        this.#isOpen = true;
        if (this.#request) this.#write(this.#request);
      })
      .once('end', () => {
        this.#end();
      })
      .on('error', (error) => {
        this.#lose(error);
      })
      .once('close', () => {
        this.#lose(undefined);
      });
  }

  /** Sends a request: now, or when the connection is open. There must be no other. */
  send(request: PendingRequest): void {
    request.connection = this;
    this.#request = request;
    this.#progress = 'unsent';
    if (this.#isOpen) this.#write(request);
  }

  /** Whether an idle connection can still be used at this time. */
  isFresh(now: number): boolean {
    return now < this.#idleUntil;
  }

  /** Fails the request, or closes the connection, when its time limit has passed. */
  checkTime(now: number): void {
    if (!this.#isOpen && now > this.#openBy) this.fail('UNREACHABLE', 'The connection was not opened in time.');
    else if (this.#request) {
      if (now > this.#request.deadline) this.fail('TIMEOUT', 'The response was not complete in time.');
    } else if (!this.isFresh(now)) this.close();
  }

  /** Closes the connection. A request that it has must have ended. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#socket?.destroy();
    this.#owner.onClosed(this);
  }

  /** Closes the connection, and fails its request. HTTP/1.1 has no other way to abort a request. */
  fail(code: ClientErrorCode, message: string, cause?: unknown): void {
    this.#fail(new ClientError(code, message, { progress: this.#progress, cause }));
  }

  /** Resolves when the socket is closed. */
  async closed(): Promise<void> {
    const socket = this.#socket;
    if (socket && !socket.closed) await new Promise((resolve) => socket.once('close', resolve));
  }

  #connect(): Socket {
    return openSocket(this.#target, 'http/1.1', {
      buffer: () => this.#reader.nextBuffer(),
      callback: (count: number) => {
        this.#read(count);
        return true;
      },
    });
  }

  #write({ bytes }: PendingRequest): void {
    this.#progress = 'sent';
    this.#socket?.write(bytes.data, bytes.encoding);
  }

  #read(count: number): void {
    if (this.#isClosed) return;
    if (!this.#request) {
      this.close();
      return;
    }
    this.#progress = 'responding';
    try {
      if (!this.#reader.read(count)) return;
    } catch (error) {
      this.#fail(
        error instanceof ClientError ? error : new ClientError('INVALID_RESPONSE', 'The response cannot be read.', { cause: error }),
      );
      return;
    }
    this.#complete(this.#isReusable());
  }

  /** A response that was sent before the request was read wholly leaves the rest of the request on the connection. */
  #isReusable(): boolean {
    return (
      this.#reader.isExact && this.#reader.isPersistent && this.#socket?.writableLength === 0 && this.#reader.readKeepAlive('max') !== 0
    );
  }

  /** The connection is free before the handler is called, so that the next request of the handler can use it. */
  #complete(isReusable: boolean): void {
    const request = this.#request as PendingRequest;
    this.#request = request.connection = undefined;
    const reader = this.#reader;
    if (reader.isLarge) this.#reader = new ResponseReader(this.#target.maxResponseBytes);
    if (isReusable) this.#free(reader);
    else this.close();
    if (reader.isLarge) {
      deliverLarge(request, reader);
      return;
    }
    try {
      request.handler.onResponse(reader);
    } finally {
      reader.release();
    }
  }

  #free(reader: ResponseReader): void {
    const hint = reader.readKeepAlive('timeout');
    const { idleMs: ownMs, maxIdleMs } = this.#target;
    const idleMs = hint === undefined ? ownMs : Math.min(hint * 1000 - KEEP_ALIVE_MARGIN_MS, maxIdleMs);
    this.#idleUntil = performance.now() + idleMs;
    this.#owner.onFree(this);
  }

  /** The server closed its side. */
  #end(): void {
    if (!this.#isClosed && this.#request && this.#reader.finish()) this.#complete(false);
    else this.#lose(undefined);
  }

  #lose(cause: Error | undefined): void {
    if (this.#isOpen) this.fail('CONNECTION_LOST', 'The connection was closed before the response was complete.', cause);
    else this.fail('UNREACHABLE', 'The connection could not be opened.', cause);
  }

  #fail(error: ClientError): void {
    if (this.#isClosed) return;
    const request = this.#request;
    if (request) this.#request = request.connection = undefined;
    this.close();
    this.#reader.release();
    request?.handler.onFailure(error);
  }
}
