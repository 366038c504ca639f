/** A client of HTTP/1.1 for one origin: a bounded number of connections, and a bounded queue of requests that wait for one. */
import type { Abortable } from '@trestle/service/process/cancellation';
import { type ClientCounts, ClientError, type ClientRequest, type ResponseHandler, type UpstreamClient } from './upstream-client.ts';
import { CheckTimer } from './check-timer.ts';
import { Connection, type ConnectionOwner, type ConnectionTarget } from './connection.ts';
import { type SocketOptions, toSocketTarget } from './open-socket.ts';
import { PendingRequest } from './pending-request.ts';
import { toRequestBytes } from './request-bytes.ts';
import { type WaitingLimits, WaitingRequests } from './waiting-requests.ts';

/** The limits of a pool. */
export interface PoolOptions extends WaitingLimits, SocketOptions {
  readonly maxConnections: number;
  /** For opening a connection. */
  readonly connectTimeoutMs: number;
  /** For a request, from {@link UpstreamClient.send} to the last byte of the response. */
  readonly timeoutMs: number;
  /** The most bytes of a response's body. */
  readonly maxResponseBytes: number;
  /** How long an idle connection is kept, unless the server's `Keep-Alive` is shorter. Default: as long as that says, up to 60 s; without it 4 s. */
  readonly idleMs?: number | undefined;
}

const IDLE_MS = 4000;
const MAX_IDLE_MS = 60_000;
const ABORTED: Abortable = { abort: () => undefined };

/** Creates the client. It opens connections when requests need them. */
export function createConnectionPool(origin: string, options: PoolOptions): UpstreamClient {
  return new ConnectionPool(origin, options);
}

class ConnectionPool implements UpstreamClient, ConnectionOwner {
  readonly #options: PoolOptions;
  readonly #host: string;
  readonly #target: ConnectionTarget;
  readonly #connections = new Set<Connection>();
  /** The connection that was used last is used next: the others become idle for long enough to be closed. */
  readonly #idle: Connection[] = [];
  readonly #waiting: WaitingRequests<PendingRequest>;
  readonly #timer: CheckTimer;
  #opened = 0;
  #isRetired = false;
  #isClosed = false;
  #onEmpty: () => void = () => undefined;

  constructor(origin: string, options: PoolOptions) {
    this.#options = options;
    this.#host = new URL(origin).host;
    this.#target = {
      ...toSocketTarget(origin, options),
      maxResponseBytes: options.maxResponseBytes,
      idleMs: options.idleMs ?? IDLE_MS,
      maxIdleMs: options.idleMs ?? MAX_IDLE_MS,
    };
    this.#waiting = new WaitingRequests(options);
    this.#timer = new CheckTimer(options.timeoutMs, (now) => {
      this.#checkTimes(now);
    });
  }

  send(request: ClientRequest, handler: ResponseHandler): Abortable {
    const now = performance.now();
    const deadline = (request.startedAt ?? now) + this.#options.timeoutMs;
    let pending: PendingRequest;
    try {
      if (this.#isClosed) throw new ClientError('ABORTED', 'The client is closed.');
      if (deadline <= now) throw new ClientError('TIMEOUT', 'No time is left.');
      const options = { client: request.client, deadline, owner: this };
      pending = new PendingRequest(toRequestBytes(this.#host, request), handler, options);
    } catch (error) {
      handler.onFailure(error as ClientError);
      return ABORTED;
    }
    const connection = this.#takeIdle(now);
    if (connection) connection.send(pending);
    else if (this.#connections.size < this.#options.maxConnections) this.#open(now).send(pending);
    else if (!this.#waiting.add(pending)) pending.failUnsent('QUEUE_FULL', `${this.#waiting.size} requests wait for a connection.`);
    return pending;
  }

  readCounts(): ClientCounts {
    return { open: this.#connections.size, waiting: this.#waiting.size, opened: this.#opened };
  }

  abort(request: PendingRequest, reason: Error): void {
    if (this.#waiting.remove(request)) request.failUnsent('ABORTED', reason.message);
    else request.connection?.fail('ABORTED', reason.message, reason);
  }

  async retire(): Promise<void> {
    this.#isRetired = true;
    for (let connection = this.#idle.pop(); connection; connection = this.#idle.pop()) connection.close();
    if (this.#connections.size > 0)
      await new Promise<void>((resolve) => {
        this.#onEmpty = resolve;
      });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (let request = this.#waiting.take(); request; request = this.#waiting.take())
      request.failUnsent('ABORTED', 'The client was closed.');
    const connections = [...this.#connections];
    for (const connection of connections) connection.fail('ABORTED', 'The client was closed.');
    this.#timer.stop();
    await Promise.all(connections.map((connection) => connection.closed()));
  }

  onFree(connection: Connection): void {
    const request = this.#waiting.take();
    if (request) connection.send(request);
    else if (this.#isRetired) connection.close();
    else this.#idle.push(connection);
  }

  onClosed(connection: Connection): void {
    this.#connections.delete(connection);
    const index = this.#idle.indexOf(connection);
    if (index >= 0) this.#idle.splice(index, 1);
    const request = this.#waiting.take();
    if (request) this.#open(performance.now()).send(request);
    else if (this.#connections.size === 0) {
      this.#timer.stop();
      this.#onEmpty();
    }
  }

  #takeIdle(now: number): Connection | undefined {
    for (let connection = this.#idle.pop(); connection; connection = this.#idle.pop()) {
      if (connection.isFresh(now)) return connection;
      connection.close();
    }
    return undefined;
  }

  #open(now: number): Connection {
    const connection = new Connection(this.#target, this, now + this.#options.connectTimeoutMs);
    this.#connections.add(connection);
    this.#opened++;
    connection.open();
    this.#timer.start();
    return connection;
  }

  #checkTimes(now: number): void {
    for (const request of this.#waiting.takeOverdue(now)) request.failUnsent('TIMEOUT', 'No connection was free in time.');
    for (const connection of this.#connections) connection.checkTime(now);
  }
}
