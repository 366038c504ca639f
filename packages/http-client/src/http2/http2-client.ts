/**
 * A client of HTTP/2 for one origin: as many requests at a time as `maxConnections` says, over one connection, or over as many as the server's limit
 * of streams requires. Node.js has the protocol; this decides which connection carries a request, and when one is given up.
 */
import type { Readable } from 'node:stream';
import type { Abortable } from '@trestle/service/process/cancellation';
import { CheckTimer } from '../check-timer.ts';
import type { PoolOptions } from '../connection-pool.ts';
import { type SocketTarget, toSocketTarget } from '../open-socket.ts';
import { type ClientCounts, ClientError, type ClientRequest, type ResponseHandler, type UpstreamClient } from '../upstream-client.ts';
import { WaitingRequests } from '../waiting-requests.ts';
import { Http2Connection, type Http2ConnectionOwner } from './http2-connection.ts';
import { Http2Request, type RequestTarget } from './http2-request.ts';

/** The limits of a client. `maxConnections` is how many requests may be in flight. */
export interface Http2Options extends PoolOptions {
  /**
   * A server that has not answered a request for so long is sent a PING; its connection is given up when then no byte of it arrives for as long.
   * Default 5000.
   */
  readonly pingAfterMs?: number;
}

/** How long a connection without a request is kept, unless the options or the server say otherwise. */
const IDLE_MS = 60_000;
const PING_AFTER_MS = 5000;
const ABORTED: Abortable = { abort: () => undefined };

/** Creates the client. It opens connections when requests need them. */
export function createHttp2Client(origin: string, options: Http2Options): UpstreamClient<string | Readable> {
  return new Http2Client(origin, options);
}

class Http2Client implements UpstreamClient<string | Readable>, Http2ConnectionOwner {
  readonly #origin: string;
  readonly #options: Http2Options;
  readonly #socketTarget: SocketTarget;
  readonly #requestTarget: RequestTarget;
  readonly #connections = new Set<Http2Connection>();
  readonly #waiting: WaitingRequests<Http2Request>;
  readonly #timer: CheckTimer;
  #opened = 0;
  #isRetired = false;
  #isClosed = false;
  #onEmpty: () => void = () => undefined;

  constructor(origin: string, options: Http2Options) {
    const { protocol, host } = new URL(origin);
    const { maxResponseBytes, timeoutMs } = options;
    this.#origin = origin;
    this.#options = options;
    this.#socketTarget = toSocketTarget(origin, options);
    this.#requestTarget = { scheme: protocol === 'https:' ? 'https' : 'http', host, maxResponseBytes, timeoutMs };
    this.#waiting = new WaitingRequests(options);
    this.#timer = new CheckTimer(options.timeoutMs, (now) => {
      this.#checkTimes(now);
    });
  }

  send(request: ClientRequest<string | Readable>, handler: ResponseHandler): Abortable {
    const now = performance.now();
    let pending: Http2Request;
    try {
      if (this.#isClosed) throw new ClientError('ABORTED', 'The client is closed.');
      pending = new Http2Request(this.#requestTarget, request, handler);
      if (pending.deadline <= now) throw new ClientError('TIMEOUT', 'No time is left.');
    } catch (error) {
      handler.onFailure(error as ClientError);
      return ABORTED;
    }
    this.#place(pending, now);
    return pending;
  }

  readCounts(): ClientCounts {
    return { open: this.#connections.size, waiting: this.#waiting.size, opened: this.#opened };
  }

  async retire(): Promise<void> {
    this.#isRetired = true;
    for (const connection of [...this.#connections]) if (connection.size === 0) connection.leave();
    if (this.#connections.size > 0)
      await new Promise<void>((resolve) => {
        this.#onEmpty = resolve;
      });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (let request = this.#waiting.take(); request; request = this.#waiting.take()) request.fail('ABORTED', 'The client was closed.');
    const connections = [...this.#connections];
    for (const connection of connections) connection.fail('ABORTED', 'The client was closed.');
    this.#timer.stop();
    await Promise.all(connections.map((connection) => connection.closed()));
  }

  onFree(connection: Http2Connection): void {
    while (connection.isFree && this.#hasRoom()) {
      const request = this.#waiting.take();
      if (!request) break;
      connection.send(request);
    }
    if (this.#isRetired && connection.size === 0) connection.leave();
  }

  onReturned(requests: readonly Http2Request[]): void {
    for (const request of requests) this.#place(request, performance.now());
  }

  onClosed(connection: Http2Connection): void {
    this.#connections.delete(connection);
    if (this.#waiting.size > 0 && !this.#isClosed && this.#hasRoom()) this.onFree(this.#findFree() ?? this.#open(performance.now()));
    else if (this.#connections.size === 0) {
      this.#timer.stop();
      this.#onEmpty();
    }
  }

  #place(request: Http2Request, now: number): void {
    if (this.#hasRoom()) (this.#findFree() ?? this.#open(now)).send(request);
    else if (this.#waiting.add(request)) request.onEnd = () => this.#waiting.remove(request);
    else request.fail('QUEUE_FULL', `${String(this.#waiting.size)} requests wait for a connection.`);
  }

  /** Whether another request may be in flight. */
  #hasRoom(): boolean {
    let size = 0;
    for (const connection of this.#connections) size += connection.size;
    return size < this.#options.maxConnections;
  }

  #findFree(): Http2Connection | undefined {
    for (const connection of this.#connections) if (connection.isFree) return connection;
    return undefined;
  }

  #open(now: number): Http2Connection {
    const connection = new Http2Connection(this.#socketTarget, this, now + this.#options.connectTimeoutMs);
    this.#connections.add(connection);
    this.#opened++;
    connection.open(this.#origin);
    this.#timer.start();
    return connection;
  }

  #checkTimes(now: number): void {
    for (const request of this.#waiting.takeOverdue(now)) request.fail('TIMEOUT', 'No connection was free in time.');
    const { idleMs = IDLE_MS, pingAfterMs = PING_AFTER_MS } = this.#options;
    for (const connection of [...this.#connections]) connection.checkTime(now, { idleMs, pingAfterMs });
  }
}
