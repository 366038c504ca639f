/** One WebSocket to a subgraph, for one identity: the client side of graphql-transport-ws, with any number of subscriptions. */
import { isUtf8 } from 'node:buffer';
import { connect } from 'node:net';
import { closeSocket } from '@trestle/service/server/close-socket';
import { CloseCode, GRAPHQL_TRANSPORT_WS_PROTOCOL, MessageType } from 'graphql-ws/client';
import { WebSocket } from 'ws';
import { toServerAddress } from '@trestle/http-client/server-address';
import type { ReadTls } from '@trestle/http-client/upstream-client';
import { signUpgrade } from '../signing/sign-upgrade.ts';
import type { RequestSigner } from '../signing/request-signer.ts';
import type { FrameLimit } from './frame-limit.ts';
import { limitMessages } from './limit-messages.ts';
import { type SubgraphMessage, findLeadingId, readSubgraphMessage } from './subgraph-message.ts';
import { type ConnectionLoss, MAX_EVENT_BYTES, type SourceReceiver, type SubscribePayload } from './subscription-upstream.ts';

const CONNECT_TIMEOUT_MS = 5000;
/** A socket without subscriptions stays open for this long, for the next subscription. */
const LINGER_MS = 1000;
/** Of a message that was cut, where the id of its subscription is. */
const LEADING_BYTES = 1024;

export interface SubgraphSocketOptions {
  /** With `ws:`, `wss:` or `unix:`. */
  readonly url: string;
  readonly tls: ReadTls;
  /** What signs the handshake; undefined for none. */
  readonly signer?: RequestSigner | undefined;
  /** The payload of `connection_init`. */
  readonly connectionParams: Readonly<Record<string, string>>;
  /** The connection is lost when the subgraph sends nothing between two pings. */
  readonly pingIntervalMs: number;
  /** Called when no further subscription is possible: when the unused socket is about to close, and again when any socket has closed. */
  readonly onClosed: () => void;
}

export class SubgraphSocket {
  readonly #options: SubgraphSocketOptions;
  readonly #socket: WebSocket;
  readonly #receivers = new Map<string, SourceReceiver>();
  /** Subscriptions before the subgraph acknowledged the connection. */
  readonly #waiting = new Map<string, SubscribePayload>();
  readonly #acknowledgement: NodeJS.Timeout;
  readonly #pinger: NodeJS.Timeout;
  #linger: NodeJS.Timeout | undefined;
  #isAcknowledged = false;
  #isAlive = true;
  #isClosed = false;
  #failure: Error | undefined;
  #nextId = 1;

  /** Connects at once. */
  constructor(options: SubgraphSocketOptions) {
    this.#options = options;
    const secureContext = options.tls();
    const { path, socketPath } = toServerAddress(new URL(options.url));
    const url = socketPath === undefined ? options.url : `ws://localhost${path}`;
    this.#socket = new WebSocket(url, GRAPHQL_TRANSPORT_WS_PROTOCOL, {
      ...(socketPath !== undefined && { createConnection: () => connect(socketPath) }),
      ...(secureContext && { secureContext }),
      ...(options.signer && { finishRequest: signUpgrade(options.signer) }),
      handshakeTimeout: CONNECT_TIMEOUT_MS,
      maxPayload: MAX_EVENT_BYTES,
      // A message that was cut may end within a character: `read` looks at the others.
      skipUTF8Validation: true,
      perMessageDeflate: false,
    });
    this.#acknowledgement = setTimeout(() => {
      this.#terminate('The subgraph did not acknowledge the connection in time');
    }, CONNECT_TIMEOUT_MS);
    this.#pinger = setInterval(() => {
      this.#ping();
    }, options.pingIntervalMs);
    this.#listen();
  }

  /** The number of its subscriptions. */
  get size(): number {
    return this.#receivers.size;
  }

  /** Whether it accepts subscriptions: neither side has begun to close it. */
  get isUsable(): boolean {
    return this.#socket.readyState <= WebSocket.OPEN;
  }

  /** Returns a function that ends the subscription: its receiver is not called afterwards. */
  subscribe(payload: SubscribePayload, receiver: SourceReceiver): () => void {
    clearTimeout(this.#linger);
    const id = String(this.#nextId++);
    this.#receivers.set(id, receiver);
    if (this.#isAcknowledged) this.#send({ id, type: MessageType.Subscribe, payload });
    else this.#waiting.set(id, payload);
    return () => {
      if (!this.#receivers.has(id)) return;
      if (this.#isAcknowledged) this.#send({ id, type: MessageType.Complete });
      this.#remove(id);
    };
  }

  /** Closes the connection. Receivers are not called. */
  close(): void {
    this.#receivers.clear();
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.close(1000);
    else this.#socket.terminate();
    this.#finish(1000, '');
  }

  #listen(): void {
    const socket = this.#socket;
    let limit: FrameLimit | undefined;
    socket.on('open', () => {
      limit = limitMessages(socket, MAX_EVENT_BYTES);
      this.#send({ type: MessageType.ConnectionInit, payload: this.#options.connectionParams });
    });
    socket.on('message', (data: Buffer) => {
      this.#isAlive = true;
      try {
        if (limit?.takeIsCut()) this.#loseLarge(data);
        else this.#receive(read(data), data.length);
      } catch (error) {
        this.#failure = error as Error;
        closeSocket(socket, CloseCode.BadResponse, 'Bad response');
        // The subgraph may take its time to close.
        this.#finish(CloseCode.BadResponse, 'Bad response');
      }
    });
    socket.on('pong', () => {
      this.#isAlive = true;
    });
    socket.on('error', (error) => {
      this.#failure ??= error;
    });
    socket.on('close', (code, reason) => {
      this.#finish(code, reason.toString());
    });
  }

  /** Ends the subscription of an event that was cut: the others go on. Throws an Error when the beginning does not name it. */
  #loseLarge(beginning: Buffer): void {
    const id = findLeadingId(beginning.toString('latin1', 0, LEADING_BYTES));
    if (id === undefined) throw new Error(`The subgraph sent a message of more than ${String(MAX_EVENT_BYTES)} bytes`);
    this.#drop(id, { isFinal: true, cause: new Error(`The subgraph sent an event of more than ${String(MAX_EVENT_BYTES)} bytes`) });
  }

  /** Ends one subscription because of what the subgraph sent for it. */
  #drop(id: string, loss: Omit<ConnectionLoss, 'isUnauthorized'>): void {
    const receiver = this.#remove(id);
    if (!receiver) return;
    this.#send({ id, type: MessageType.Complete });
    receiver.lost({ isUnauthorized: false, ...loss });
  }

  #receive(message: SubgraphMessage, size: number): void {
    switch (message.type) {
      case MessageType.ConnectionAck:
        this.#acknowledge();
        return;
      case MessageType.Next:
        this.#receivers.get(message.id)?.next(message.payload as Parameters<SourceReceiver['next']>[0], size);
        return;
      case MessageType.Error:
        this.#remove(message.id)?.refused(message.payload);
        return;
      case MessageType.Complete:
        this.#remove(message.id)?.complete();
        return;
      case 'invalid':
        this.#drop(message.id, { cause: new Error('The subgraph sent a message that is not valid') });
        return;
      case MessageType.Ping:
        this.#send({ type: MessageType.Pong, ...(message.payload && { payload: message.payload }) });
        return;
      default:
    }
  }

  #acknowledge(): void {
    this.#isAcknowledged = true;
    clearTimeout(this.#acknowledgement);
    for (const [id, payload] of this.#waiting) this.#send({ id, type: MessageType.Subscribe, payload });
    this.#waiting.clear();
  }

  #ping(): void {
    // The subgraph has said that it closes, and does not end the connection.
    if (!this.isUsable) this.#socket.terminate();
    if (!this.#isAcknowledged) return;
    if (!this.#isAlive) this.#terminate('The subgraph did not respond to a ping');
    this.#isAlive = false;
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.ping();
  }

  #send(message: object): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  /** Removes a subscription, and closes the connection some time after the last one. Returns its receiver. */
  #remove(id: string): SourceReceiver | undefined {
    const receiver = this.#receivers.get(id);
    this.#waiting.delete(id);
    if (!this.#receivers.delete(id) || this.#receivers.size > 0 || this.#isClosed) return receiver;
    clearTimeout(this.#linger);
    this.#linger = setTimeout(() => {
      this.#options.onClosed();
      this.#socket.close(1000);
    }, LINGER_MS).unref();
    return receiver;
  }

  #terminate(reason: string): void {
    this.#failure = new Error(reason);
    this.#socket.terminate();
  }

  #finish(code: number, reason: string): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#acknowledgement);
    clearTimeout(this.#linger);
    clearInterval(this.#pinger);
    this.#options.onClosed();
    const isUnauthorized = code === 4401 || code === 4403;
    const cause = this.#failure ?? new Error(`The subgraph closed the connection with ${String(code)} ${reason}`);
    for (const receiver of this.#receivers.values()) receiver.lost({ isUnauthorized, cause });
    this.#receivers.clear();
  }
}

/** Returns a whole message. Throws an Error for what is none (RFC 6455 §5.6: text is UTF-8). */
function read(data: Buffer): SubgraphMessage {
  if (!isUtf8(data)) throw new Error('The subgraph sent a message that is not valid UTF-8');
  return readSubgraphMessage(data.toString());
}
