/** The WebSocket transport: GraphQL over graphql-transport-ws, for subscriptions, queries and mutations (contract §1, §6). */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Caller } from '@trestle/identity';
import { takeUrlKeys } from '@trestle/identity/credentials/credential';
import type { Quota } from '@trestle/limits/quota';
import type { Edge } from '@trestle/service/edge/edge';
import { closeSocket } from '@trestle/service/server/close-socket';
import { type Fault, fail } from '@trestle/schema/errors';
import { MessageTurns } from '@trestle/service/process/message-turns';
import { GRAPHQL_TRANSPORT_WS_PROTOCOL } from 'graphql-ws/client';
import { WebSocketServer } from 'ws';
import { type Identification, type IdentifyOptions, tryIdentify } from '../../request/caller.ts';
import { MAX_URL_BYTES } from '../../request/url.ts';
import type { SendBuffers } from '../delivery/send-buffers.ts';
import type { ConnectionLimits, ConnectionOptions } from './connection-options.ts';
import { Connection } from './connection.ts';
import { refuseSocket } from './refuse-socket.ts';
import { type SocketRunOptions, createSocketRun } from './run-operation.ts';

export interface WebSocketLimits extends ConnectionLimits {
  /** The most open sockets of this process. */
  readonly maxSockets: number;
  readonly pingIntervalMs: number;
  /** How long a client may take for its part of the closing handshake. */
  readonly closeTimeoutMs: number;
}

export interface WebSocketTransportOptions extends IdentifyOptions, SocketRunOptions {
  readonly limits: WebSocketLimits;
  readonly buffers: SendBuffers;
  /** Adds the headers that every response has. */
  readonly prepare: Edge['prepare'];
  /** Whether clients may subscribe; WebSockets are refused otherwise. */
  readonly hasSubscriptions: () => boolean;
}

const SUBPROTOCOL_NOT_ACCEPTABLE = 4406;
/** The error, and headers, of an opening handshake that is not valid. */
const HANDSHAKE_REFUSALS = {
  invalid: [fail('VALIDATION_ERROR', 'The opening handshake of the WebSocket is not valid.'), 'sec-websocket-version', '13, 8'],
  method: [fail('METHOD_NOT_ALLOWED', 'Use GET to open a WebSocket.'), 'allow', 'GET'],
} as const;

export class WebSocketTransport {
  readonly #options: WebSocketTransportOptions;
  readonly #connectionOptions: Omit<ConnectionOptions, 'onClosed'>;
  readonly #server: WebSocketServer;
  readonly #connections = new Set<Connection>();
  readonly #pinger: NodeJS.Timeout;
  #isDraining = false;
  /** Those of requests for a WebSocket, until they are answered. */
  readonly #quotas = new WeakMap<IncomingMessage, Quota>();

  constructor(options: WebSocketTransportOptions) {
    const { limits } = options;
    this.#options = options;
    this.#connectionOptions = { ...options, ...limits, turns: new MessageTurns(), run: createSocketRun(options) };
    this.#server = createServer(limits);
    this.#server.on('headers', (lines: string[], request) => {
      const headers = this.#quotas.get(request)?.headersFor(101) ?? [];
      for (let i = 0; i < headers.length; i += 2) lines.push(`${headers[i] ?? ''}: ${headers[i + 1] ?? ''}`);
    });
    // Otherwise `ws` answers a handshake that is not valid itself, without our headers (RFC 6455 §4.2.2, §4.4).
    this.#server.on('wsClientError', (_, stream, request) => {
      const [fault, ...own] = request.method === 'GET' ? HANDSHAKE_REFUSALS.invalid : HANDSHAKE_REFUSALS.method;
      refuseSocket({ request, stream, prepare: options.prepare }, fault, [...own, ...(this.#quotas.get(request)?.headersFor(0) ?? [])]);
    });
    this.#pinger = setInterval(() => {
      for (const connection of this.#connections) connection.ping();
    }, limits.pingIntervalMs).unref();
  }

  /** Handles the event `upgrade` of an HTTP server. */
  readonly upgrade = (request: IncomingMessage, stream: Duplex, head: Buffer): void => {
    const found = tryIdentify(request, this.#options);
    const arrive = ({ identity }: Identification) => {
      this.#guard(stream, () => {
        this.#count(request, { stream, head, caller: identity.caller });
      });
    };
    if (found instanceof Promise) void found.then(arrive);
    else arrive(found);
  };

  /** Counts a request for a WebSocket, and opens it unless it must be refused. */
  #count(request: IncomingMessage, { stream, head, caller }: { stream: Duplex; head: Buffer; caller: Caller | null }): void {
    const quota = this.#options.rateLimits.open(request, caller);
    this.#quotas.set(request, quota);
    quota.begin((fault) => {
      this.#guard(stream, () => {
        const refusal = fault ?? this.#findRefusal(request);
        if (refusal) refuseSocket({ request, stream, prepare: this.#options.prepare }, refusal, quota.headersFor(fault ? 429 : 0));
        else this.#open(request, stream, head);
      });
    });
  }

  /** An exception ends the connection of its request, not the process. */
  #guard(stream: Duplex, act: () => void): void {
    try {
      act();
    } catch (error) {
      this.#options.log.error('WebSocket failed', { error });
      stream.destroy();
    }
  }

  #open(request: IncomingMessage, stream: Duplex, head: Buffer): void {
    this.#server.handleUpgrade(request, stream, head, (socket) => {
      // An error of the connection, also while it is being refused, ends the connection only.
      socket.on('error', () => undefined);
      if (socket.protocol !== GRAPHQL_TRANSPORT_WS_PROTOCOL) {
        closeSocket(socket, SUBPROTOCOL_NOT_ACCEPTABLE, 'Subprotocol not acceptable');
        return;
      }
      const { sockets } = this.#options.metrics;
      const onClosed = () => {
        if (this.#connections.delete(connection)) sockets.dec();
      };
      const connection: Connection = new Connection(socket, { request, stream, options: { ...this.#connectionOptions, onClosed } });
      this.#connections.add(connection);
      sockets.inc();
    });
  }

  /**
   * Accepts no more connections, sends each client the events received so far, and closes the connections at random times within `overMs`.
   * Connections that are open after `limitMs` are terminated.
   */
  async drain(overMs: number, limitMs: number): Promise<void> {
    this.#isDraining = true;
    clearInterval(this.#pinger);
    const finishing = Array.from(this.#connections, (connection) => {
      connection.beginDraining();
      return new Promise<void>((resolve) => {
        setTimeout(() => {
          connection.finish(resolve);
        }, Math.random() * overMs);
      });
    });
    const limit = setTimeout(() => {
      for (const connection of this.#connections) connection.terminate();
    }, limitMs);
    await Promise.all(finishing);
    clearTimeout(limit);
  }

  /** Returns the error of a request that is refused. */
  #findRefusal(request: IncomingMessage): Fault | undefined {
    // A socket carries mutations too, so a key in its URL is refused rather than ignored.
    const hasUrlKey = this.#options.verifier !== undefined && takeUrlKeys(request).length > 0;
    const { url = '/' } = request;
    if (url.length > MAX_URL_BYTES) return fail('URI_TOO_LONG', `The URL exceeds the limit of ${String(MAX_URL_BYTES)} bytes.`);
    if (url.split('?')[0] !== this.#options.path) return fail('NOT_FOUND', 'No WebSocket is served at this path.');
    if (hasUrlKey) return fail('VALIDATION_ERROR', 'An API key in the URL opens no WebSocket. Send the key in `connection_init`.');
    if (!this.#options.hasSubscriptions())
      return fail('FORBIDDEN', 'Subscriptions have been disabled, and WebSockets with them. Send queries and mutations by POST.');
    if (this.#isDraining) return fail('SERVICE_UNAVAILABLE', 'The server is shutting down.');
    if (this.#connections.size < this.#options.limits.maxSockets) return undefined;
    return fail('SERVICE_UNAVAILABLE', 'The server has reached its limit of WebSockets. Retry later.', { retryAfterSeconds: 1 });
  }
}

function createServer({ maxMessageBytes, closeTimeoutMs }: WebSocketLimits): WebSocketServer {
  return new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: maxMessageBytes,
    perMessageDeflate: false,
    autoPong: false,
    // One message for each turn of the event loop: many messages that arrive together must not delay other clients.
    allowSynchronousEvents: false,
    // @types/ws lacks this option.
    ...({ closeTimeout: closeTimeoutMs } as object),
    handleProtocols: (offered) => offered.has(GRAPHQL_TRANSPORT_WS_PROTOCOL) && GRAPHQL_TRANSPORT_WS_PROTOCOL,
  });
}
