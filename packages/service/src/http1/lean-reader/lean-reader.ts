/**
 * Puts the lean reader before the parser of Node.js: it reads requests of a few shapes that arrive in one piece, and emits them as the `request` events
 * of the server. Everything behind the parser is the same for both.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { Counter, type Registry } from 'prom-client';
import type { PipelineLimits } from '../pipelining.ts';
import { type ConnectionOwner, LeanConnection } from './lean-connection.ts';
import { type LeanRequests, toHeadShape } from './request-head.ts';

/** What the reader reads, and how long a connection may do nothing. */
export interface LeanReaderOptions {
  readonly requests: LeanRequests;
  readonly maxHeaderBytes: number;
  readonly headersTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
  readonly pipeline: PipelineLimits;
  readonly metrics: Registry;
}

/** The connections that Node.js does not know. */
export interface LeanReader {
  /** Closes those that have been used and have no request in flight. */
  readonly closeIdle: () => void;
  /** Closes all of them. */
  readonly cut: () => void;
  /** Stops the timer, without which silent connections stay open. */
  readonly close: () => void;
}

const CHECK_MS = 1000;

/** Starts to read. The listeners for connections that the server has now get those connections that are handed over to Node.js. */
export function startLeanReader(server: Server, options: LeanReaderOptions): LeanReader {
  const { requests, maxHeaderBytes, headersTimeoutMs, keepAliveTimeoutMs, pipeline, metrics } = options;
  const counts = { requests: 0, handOvers: 0 };
  registerCounts(metrics, counts);
  const listeners = server.listeners('connection') as ((socket: Socket) => void)[];
  server.removeAllListeners('connection');
  const connections = new Set<LeanConnection>();
  const owner: ConnectionOwner = {
    shape: toHeadShape(requests, maxHeaderBytes),
    keepAliveTimeoutMs,
    pipeline,
    handle: (request, response) => {
      counts.requests++;
      server.emit('request', request.asIncomingMessage(), response.asServerResponse());
    },
    handOver: (socket) => {
      counts.handOvers++;
      for (const listener of listeners) listener.call(server, socket);
    },
    onClosed: (connection) => {
      connections.delete(connection);
    },
  };
  server.on('connection', (socket: Socket) => {
    connections.add(new LeanConnection(socket, owner));
  });
  const check = () => {
    const now = performance.now();
    for (const connection of connections) {
      const idleMs = connection.idleMs(now);
      if (connection.isSilent && idleMs >= headersTimeoutMs) refuse(server, connection);
      else if (connection.isIdle && idleMs >= keepAliveTimeoutMs) connection.socket.destroy();
    }
  };
  const timer = setInterval(check, Math.min(CHECK_MS, headersTimeoutMs, keepAliveTimeoutMs)).unref();
  return {
    closeIdle() {
      for (const connection of connections) if (connection.isIdle) connection.socket.destroy();
    },
    cut() {
      for (const connection of connections) connection.socket.destroy();
    },
    close() {
      clearInterval(timer);
    },
  };
}

/** Registers the metrics, which are read from the counts. */
function registerCounts(metrics: Registry, counts: { readonly requests: number; readonly handOvers: number }): void {
  const register = (name: string, help: string, read: () => number) =>
    new Counter({
      name,
      help,
      registers: [metrics],
      collect() {
        this.reset();
        this.inc(read());
      },
    });
  register('trestle_lean_requests_total', 'Requests that the lean reader has read.', () => counts.requests);
  register('trestle_lean_hand_overs_total', 'Connections that the lean reader has handed over to Node.js.', () => counts.handOvers);
}

/** Refuses a connection on which nothing has arrived, as Node.js does. */
function refuse(server: Server, connection: LeanConnection): void {
  connection.refuse();
  server.emit('clientError', Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), connection.socket);
}
