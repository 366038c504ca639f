/** One WebSocket to a subgraph, for one identity: the client's side of graphql-transport-ws, with any number of subscriptions on it. */
import { closeSocket } from '@trestle/service/close-socket';
import { CloseCode, GRAPHQL_TRANSPORT_WS_PROTOCOL, type Message, MessageType, parseMessage } from 'graphql-ws/client';
import { WebSocket } from 'ws';
import type { SubgraphAnswer } from '../execute/execute.ts';
import type { SubgraphError } from '../execute/execution-errors.ts';

const CONNECT_TIMEOUT_MS = 5000;
/** A connection that nobody uses is kept for whoever comes next. */
const LINGER_MS = 1000;
const MAX_MESSAGE_BYTES = 32 * 1024 * 1024;

export interface LivePayload {
  readonly query: string;
  readonly operationName: string | undefined;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly extensions: Readonly<Record<string, unknown>>;
}

/** Told in order; after one of the last three nothing comes. */
export interface LiveSink {
  next(answer: SubgraphAnswer & { readonly extensions?: Readonly<Record<string, unknown>> }): void;
  refused(errors: readonly SubgraphError[]): void;
  complete(): void;
  /** The connection is lost, or never came about. */
  lost(loss: Loss): void;
}

export interface Loss {
  /** Whether the subgraph does not take the credential; then it won't the next time either. */
  readonly isUnauthorized: boolean;
  /** For the log. */
  readonly cause: Error;
}

export interface LiveSocket {
  /** How many subscriptions it carries. */
  readonly size: number;
  /** Gives what ends the subscription: nothing is told from then on. */
  subscribe(payload: LivePayload, sink: LiveSink): () => void;
  close(): void;
}

export interface LiveSocketOptions {
  readonly url: string;
  /** The payload of `connection_init`. */
  readonly connectionParams: Readonly<Record<string, string>>;
  /** A connection that has given no sign of life between two pings is lost. */
  readonly pingIntervalMs: number;
}

/** Connects at once. `onClosed` is called when the socket can no longer be used. */
export function openLiveSocket({ url, connectionParams, pingIntervalMs }: LiveSocketOptions, onClosed: () => void): LiveSocket {
  const socket = new WebSocket(url, GRAPHQL_TRANSPORT_WS_PROTOCOL, {
    handshakeTimeout: CONNECT_TIMEOUT_MS,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
  });
  const sinks = new Map<string, LiveSink>();
  const waiting = new Map<string, LivePayload>();
  let isReady = false;
  let isOver = false;
  let failure: Error | undefined;
  let nextId = 1;
  let linger: NodeJS.Timeout | undefined;
  let isAlive = true;

  const send = (message: object) => {
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
  };
  const start = (id: string, payload: LivePayload) => {
    send({ id, type: MessageType.Subscribe, payload });
  };
  const finish = (code: number, reason: string) => {
    if (isOver) return;
    isOver = true;
    clearTimeout(ackTimer);
    clearTimeout(linger);
    clearInterval(pinger);
    onClosed();
    const isUnauthorized = code === 4401 || code === 4403;
    const cause = failure ?? new Error(`The subgraph closed the connection with ${String(code)} ${reason}`);
    for (const sink of sinks.values()) sink.lost({ isUnauthorized, cause });
    sinks.clear();
  };
  const abandon = (why: string) => {
    failure = new Error(why);
    socket.terminate();
  };
  const ackTimer = setTimeout(() => {
    abandon('The subgraph did not acknowledge the connection in time');
  }, CONNECT_TIMEOUT_MS);
  const pinger = setInterval(() => {
    if (!isReady) return;
    if (!isAlive) abandon('The subgraph has given no sign of life');
    isAlive = false;
    if (socket.readyState === WebSocket.OPEN) socket.ping();
  }, pingIntervalMs);

  const receive = (message: Message) => {
    switch (message.type) {
      case MessageType.ConnectionAck:
        isReady = true;
        clearTimeout(ackTimer);
        for (const [id, payload] of waiting) start(id, payload);
        waiting.clear();
        return;
      case MessageType.Next:
        sinks.get(message.id)?.next(message.payload as Parameters<LiveSink['next']>[0]);
        return;
      case MessageType.Error:
      case MessageType.Complete: {
        const sink = sinks.get(message.id);
        drop(message.id);
        if (message.type === MessageType.Error) sink?.refused(message.payload);
        else sink?.complete();
        return;
      }
      case MessageType.Ping:
        send({ type: MessageType.Pong, ...(message.payload && { payload: message.payload }) });
        return;
      default:
    }
  };
  const drop = (id: string) => {
    waiting.delete(id);
    if (!sinks.delete(id) || sinks.size > 0 || isOver) return;
    clearTimeout(linger);
    linger = setTimeout(() => {
      onClosed();
      socket.close(1000);
    }, LINGER_MS).unref();
  };

  socket.on('open', () => {
    send({ type: MessageType.ConnectionInit, payload: connectionParams });
  });
  socket.on('message', (data: Buffer) => {
    isAlive = true;
    try {
      receive(parseMessage(data.toString()));
    } catch (error) {
      failure = error as Error;
      closeSocket(socket, CloseCode.BadResponse, 'Bad response');
    }
  });
  socket.on('pong', () => {
    isAlive = true;
  });
  socket.on('error', (error) => {
    failure ??= error;
  });
  socket.on('close', (code, reason) => {
    finish(code, reason.toString());
  });

  return {
    get size() {
      return sinks.size;
    },
    subscribe(payload, sink) {
      clearTimeout(linger);
      const id = String(nextId++);
      sinks.set(id, sink);
      if (isReady) start(id, payload);
      else waiting.set(id, payload);
      return () => {
        if (!sinks.has(id)) return;
        if (isReady) send({ id, type: MessageType.Complete });
        drop(id);
      };
    },
    close() {
      sinks.clear();
      if (socket.readyState === WebSocket.OPEN) socket.close(1000);
      else socket.terminate();
      finish(1000, '');
    },
  };
}
