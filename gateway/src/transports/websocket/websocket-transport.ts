/** The WebSocket door: `/graphql` over graphql-transport-ws; queries and mutations too (contract §1, §6). */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { TokenVerifier } from '@trestle/identity/tokens';
import type { Log } from '@trestle/log';
import { Fault, fail } from '@trestle/schema/errors';
import { type Admission, Turn } from '@trestle/service/admission';
import { clientOf } from '@trestle/service/client-id';
import { closeSocket } from '@trestle/service/close-socket';
import { refuseUpgrade } from '@trestle/service/refuse-upgrade';
import type { Tracing } from '@trestle/telemetry';
import { GRAPHQL_TRANSPORT_WS_PROTOCOL } from 'graphql-ws/client';
import { WebSocketServer } from 'ws';
import { createContext, readClient } from '../../request/caller.ts';
import type { Documents } from '../../documents/documents.ts';
import { readParameters } from '../../request/parameters.ts';
import { MAX_URL_BYTES } from '../../request/url.ts';
import type { Engine } from '../../engines/engine.ts';
import type { OperationKind } from '../../program/program.ts';
import type { DoorMetrics } from '../http/visit.ts';
import { toOperationLabel } from '../../observability/operation-label.ts';
import { endRequestSpan } from '../../observability/tracing.ts';
import { type Asked, Connection, type ConnectionOptions, type SocketLimits } from './connection.ts';
import type { LiveMetrics } from '../../observability/subscription-metrics.ts';
import type { SendBuffers } from '../delivery/send-buffers.ts';

export interface SocketDoorLimits extends SocketLimits {
  /** The most sockets of this process. */
  readonly maxSockets: number;
  readonly pingIntervalMs: number;
  /** How long a client may take for its part of the closing handshake. */
  readonly closeTimeoutMs: number;
}

export interface SocketDoorOptions {
  readonly engine: Engine;
  readonly documents: Documents;
  readonly verifier: TokenVerifier | undefined;
  readonly forwardHeaders: readonly string[];
  readonly limits: SocketDoorLimits;
  readonly buffers: SendBuffers;
  readonly log: Log;
  readonly requests: DoorMetrics;
  readonly metrics: LiveMetrics;
  readonly tracing: Tracing;
  /** Operations take turns with requests. */
  readonly admission: Admission;
}

export interface SocketDoor {
  /** Takes what an HTTP server tells by `upgrade`. */
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  /** Takes no more, tells each client all that has come for it, and sends it away, one after the other over the given time. */
  drain(overMs: number, limitMs: number): Promise<void>;
}

export function createSocketDoor(options: SocketDoorOptions): SocketDoor {
  const { limits, metrics } = options;
  const connections = new Set<Connection>();
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: limits.maxMessageBytes,
    perMessageDeflate: false,
    autoPong: false,
    // The types lack it.
    ...({ closeTimeout: limits.closeTimeoutMs } as object),
    handleProtocols: (offered) => offered.has(GRAPHQL_TRANSPORT_WS_PROTOCOL) && GRAPHQL_TRANSPORT_WS_PROTOCOL,
  });
  let isDraining = false;
  const run = createRun(options);
  const onEnd = (connection: Connection) => {
    if (connections.delete(connection)) metrics.sockets.dec();
  };
  const connectionOptions: ConnectionOptions = { ...options, ...limits, run, onEnd };
  const pinger = setInterval(() => {
    for (const connection of connections) connection.ping();
  }, limits.pingIntervalMs).unref();

  return {
    upgrade(request, stream, head) {
      const refusal = refuse(request, { isDraining, isFull: connections.size >= limits.maxSockets });
      if (refusal) {
        refuseUpgrade(stream, refusal);
        return;
      }
      server.handleUpgrade(request, stream, head, (socket) => {
        // Whatever a client sends, also while it is being refused, ends its own connection and nothing else.
        socket.on('error', () => undefined);
        if (socket.protocol !== GRAPHQL_TRANSPORT_WS_PROTOCOL) {
          closeSocket(socket, 4406, 'Subprotocol not acceptable');
          return;
        }
        connections.add(new Connection(socket, { request, stream, options: connectionOptions }));
        metrics.sockets.inc();
      });
    },
    async drain(overMs, limitMs) {
      isDraining = true;
      clearInterval(pinger);
      const leaving = [...connections].map(
        (connection) =>
          new Promise<void>((resolve) => {
            connection.refuseMore();
            setTimeout(() => {
              connection.leave(resolve);
            }, Math.random() * overMs);
          }),
      );
      const cut = setTimeout(() => {
        for (const connection of connections) connection.terminate();
      }, limitMs);
      await Promise.all(leaving);
      clearTimeout(cut);
    },
  };
}

/** The status line of what no WebSocket is opened for. */
function refuse({ url = '/' }: IncomingMessage, { isDraining, isFull }: { isDraining: boolean; isFull: boolean }): string | undefined {
  if (url.length > MAX_URL_BYTES) return '414 URI Too Long';
  if (url.split('?')[0] !== '/graphql') return '404 Not Found';
  return isDraining || isFull ? '503 Service Unavailable' : undefined;
}

/** Takes an operation from its message to the engine. */
function createRun({ engine, documents, log, requests, metrics, tracing, admission }: SocketDoorOptions): ConnectionOptions['run'] {
  return (operation, { payload, identity, request }) => {
    const requestId = randomUUID();
    const started = performance.now();
    const trace = tracing.begin({});
    const context = createContext({ ...identity, ...readClient(request), requestId, mutationHeaders: [], trace });
    let name: string | undefined;
    let kind: OperationKind | undefined;
    let hasBegun = false;
    const count = (status: number) => {
      requests.end({ status, seconds: (performance.now() - started) / 1000, operation: name });
      if (trace) endRequestSpan(trace, { method: 'WS', status, operation: name, kind });
    };
    requests.begin();
    const turn = new Turn(admission, { client: clientOf(request), bytes: sizeOf(payload) });
    operation.watch({
      requestId,
      trail: context.trail,
      onBegin: (subscription) => {
        turn.end();
        name = toOperationLabel(subscription.operationName);
        kind = 'subscription';
        hasBegun = true;
        metrics.began('websocket');
        count(200);
      },
      onEnd: (cause) => {
        turn.end();
        const status = STATUS[cause] ?? 200;
        if (hasBegun) metrics.ended('websocket', cause);
        else count(status);
        log.access({
          requestId,
          method: 'WS',
          route: '/graphql',
          status,
          durationMs: Math.round(performance.now() - started),
          ...(name !== undefined && { operation: name }),
        });
      },
    });
    /** Also of what is called back later: it ends its own operation, never the process. */
    const guard = (act: () => void) => {
      try {
        act();
      } catch (error) {
        if (!(error instanceof Fault)) log.error('request failed', { requestId, error });
        operation.refuse(error instanceof Fault ? error : fail('INTERNAL_ERROR', 'Something went wrong on our side'));
      }
    };
    const respond = () => {
      const parameters = readParameters(payload);
      const query = documents.resolve(parameters, readClientInfo(request));
      const { operationName, variables, resume } = parameters;
      const asked = { query, operationName, variables, resume, isReadOnly: false, context, tell: NOTHING_TOLD, listener: operation };
      engine.respond(asked, (reply) => {
        guard(() => {
          name = toOperationLabel(reply.operationName);
          kind = reply.operationKind;
          operation.reply(reply);
        });
      });
    };
    const isTaken = turn.take(() => {
      guard(respond);
    });
    if (!isTaken) operation.refuse(fail('SERVICE_UNAVAILABLE', 'Too many operations of this client wait', { retryAfterSeconds: 1 }));
  };
}

/** The query is by far the largest part. */
function sizeOf({ query }: Asked['payload']): number {
  return typeof query === 'string' ? query.length : 0;
}

const NOTHING_TOLD = { plan: false, cost: false, snapshot: false };
/** As HTTP would have told it; everything else is 200. */
const STATUS: Readonly<Record<string, number>> = { refused: 400, stopped: 499 };

function readClientInfo({ headers }: IncomingMessage) {
  return {
    name: headers['apollographql-client-name'] as string | undefined,
    version: headers['apollographql-client-version'] as string | undefined,
  };
}
