/** One WebSocket of a client: the server side of graphql-transport-ws, as one switch over its messages. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { toFault } from '@trestle/schema/errors';
import { closeSocket } from '@trestle/service/server/close-socket';
import { CloseCode, MessageType } from 'graphql-ws/client';
import { WebSocket } from 'ws';
import { type Identity, identify, readConnectionParams } from '../../request/caller.ts';
import { SendQueue, toEnvelope } from '../delivery/send-queue.ts';
import type { ConnectionOptions } from './connection-options.ts';
import { toTextFrame } from './frame.ts';
import { parseClientMessage } from './parse-message.ts';
import { answerPings } from './pings.ts';
import { SocketOperations } from './socket-operations.ts';

/** A close code of ours, in the range that the protocol leaves free: the client does not read its messages. */
export const SLOW_CONSUMER = 4413;
const GOING_AWAY = 1001;
/** RFC 6455 §7.4.1, as registered with IANA: clients of graphql-transport-ws reconnect after it. */
const TRY_AGAIN_LATER = 1013;
/** Each message of an operation repeats its id. */
const MAX_ID_LENGTH = 200;
/** A pong repeats the payload of a ping, which the protocol leaves to the server, up to this size of the message. */
const MAX_ECHOED_BYTES = 16 * 1024;

const PONG = toEnvelope(JSON.stringify({ type: MessageType.Pong }));
const ACK = toEnvelope(JSON.stringify({ type: MessageType.ConnectionAck }));

export class Connection {
  readonly #socket: WebSocket;
  readonly #request: IncomingMessage;
  readonly #options: ConnectionOptions;
  readonly #queue: SendQueue;
  readonly #operations: SocketOperations;
  #identity: Identity | undefined;
  #isInitialised = false;
  #isAlive = true;
  /** The time limit of `connection_init`. */
  readonly #initTimer: NodeJS.Timeout;
  #unwatchCaller: (() => void) | undefined;

  /** `stream` is what the socket writes to. */
  constructor(socket: WebSocket, { request, stream, options }: { request: IncomingMessage; stream: Duplex; options: ConnectionOptions }) {
    this.#socket = socket;
    this.#request = request;
    this.#options = options;
    this.#queue = this.#createQueue(stream);
    this.#operations = new SocketOperations(options, { queue: this.#queue, isAuthorized: this.#isAuthorized, revoke: this.#revoke });
    this.#initTimer = setTimeout(() => {
      this.#close(CloseCode.ConnectionInitialisationTimeout, 'Connection initialisation timeout');
    }, options.initTimeoutMs);
    options.turns.serve(socket, {
      handle: (data, isBinary) => {
        this.#guard(() => {
          this.#receive(data, isBinary);
        });
      },
      resume: () => {
        socket.resume();
      },
    });
    answerPings(socket, stream);
    socket.on('pong', () => {
      this.#isAlive = true;
    });
    socket.on('close', () => {
      this.#end('stopped');
      options.onClosed();
    });
  }

  /** Called at every ping interval: pings the client, and terminates a connection without a sign of life since the last ping. */
  ping(): void {
    if (!this.#isAlive) this.#socket.terminate();
    else if (this.#socket.readyState === WebSocket.OPEN) {
      this.#isAlive = false;
      this.#socket.ping();
    }
  }

  /** Refuses further operations. */
  beginDraining(): void {
    this.#operations.beginDraining();
  }

  /** Sends every event received so far, then closes the connection; calls back when it is closed. */
  finish(done: () => void): void {
    this.#operations.beginDraining();
    this.#socket.once('close', done);
    if (this.#socket.readyState !== WebSocket.OPEN) {
      done();
      return;
    }
    this.#operations.finish(() => {
      this.#queue.whenEmpty(() => {
        this.#close(GOING_AWAY, 'Going away', 'shutdown');
      });
    });
  }

  terminate(): void {
    this.#socket.terminate();
  }

  #createQueue(stream: Duplex): SendQueue {
    const { queue: limits, buffers, metrics } = this.#options;
    return new SendQueue({
      stream,
      limits,
      buffers,
      pack: toTextFrame,
      onDropped: metrics.eventDropped,
      onOverflow: () => {
        this.#closeSlow();
      },
      onStalled: () => {
        this.#closeSlow();
        this.terminate();
      },
    });
  }

  /** Closes from this side. Queued messages are discarded. */
  #close(code: number, reason: string, cause = 'stopped'): void {
    this.#queue.close();
    closeSocket(this.#socket, code, reason);
    this.#end(cause);
  }

  #closeSlow(): void {
    this.#close(SLOW_CONSUMER, 'Slow consumer: messages were not read in time', 'slow-consumer');
  }

  /** Returns whether the credential of the caller is still valid; closes the connection otherwise. */
  readonly #isAuthorized = (): boolean => {
    const { verifier } = this.#options;
    const caller = this.#identity?.caller;
    if (!caller || !verifier || verifier.isValid(caller)) return true;
    this.#revoke();
    return false;
  };

  readonly #revoke = (): void => {
    this.#close(CloseCode.Forbidden, 'Forbidden: the credential has expired or was revoked', 'unauthorized');
  };

  /** An exception behind a client's message ends its connection, not the process. */
  #guard(act: () => void): void {
    try {
      act();
    } catch (error) {
      this.#options.log.error('WebSocket failed', { error });
      this.#close(CloseCode.InternalServerError, 'Internal server error');
    }
  }

  #receive(data: Buffer, isBinary: boolean): void {
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    const message = parseClientMessage(data, isBinary);
    if (!message) {
      this.#close(CloseCode.BadRequest, 'Invalid message received');
      return;
    }
    this.#isAlive = true;
    switch (message.type) {
      case MessageType.ConnectionInit:
        this.#initialise(message.payload);
        return;
      case MessageType.Ping:
        this.#queue.send(
          data.length > MAX_ECHOED_BYTES ? PONG : toEnvelope(JSON.stringify({ type: MessageType.Pong, payload: message.payload })),
        );
        return;
      case MessageType.Pong:
        return;
      case MessageType.Subscribe:
        this.#subscribe(message.id, { payload: message.payload as unknown as Record<string, unknown>, bytes: data.length });
        return;
      case MessageType.Complete:
        this.#operations.stop(message.id);
        return;
      default:
        this.#close(CloseCode.BadRequest, `Unexpected message of type ${message.type}`);
    }
  }

  #initialise(payload: unknown): void {
    if (this.#isInitialised) {
      this.#close(CloseCode.TooManyInitialisationRequests, 'Too many initialisation requests');
      return;
    }
    this.#isInitialised = true;
    clearTimeout(this.#initTimer);
    try {
      const identity = identify(this.#request, this.#options, { params: readConnectionParams(payload) });
      if (identity instanceof Promise) identity.then(this.#accept, this.#refuse);
      else this.#accept(identity);
    } catch (error) {
      this.#refuse(error);
    }
  }

  /** Acknowledges the connection. The client may have closed it while its API key was exchanged. */
  readonly #accept = (identity: Identity): void => {
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    this.#identity = identity;
    const { caller } = identity;
    if (caller) this.#unwatchCaller = this.#options.verifier?.watch(caller, this.#revoke);
    this.#queue.send(ACK);
  };

  /** Closes the connection because its credential is refused or cannot be checked. */
  readonly #refuse = (error: unknown): void => {
    const { code, message } = toFault(error);
    if (code === 'VALIDATION_ERROR') this.#close(CloseCode.BadRequest, message);
    else if (code === 'UNAUTHORIZED' || code === 'FORBIDDEN') this.#close(CloseCode.Forbidden, 'Forbidden');
    else if (code === 'SERVICE_UNAVAILABLE' || code === 'RATE_LIMIT_EXCEEDED') this.#close(TRY_AGAIN_LATER, message);
    else {
      this.#options.log.error('WebSocket failed', { error });
      this.#close(CloseCode.InternalServerError, 'Internal server error');
    }
  };

  #subscribe(id: string, { payload, bytes }: { payload: Readonly<Record<string, unknown>>; bytes: number }): void {
    if (!this.#identity) {
      this.#close(CloseCode.Unauthorized, 'Unauthorized');
      return;
    }
    if (!this.#isAuthorized()) return;
    if (id.length > MAX_ID_LENGTH) {
      this.#close(CloseCode.BadRequest, `The id exceeds the limit of ${String(MAX_ID_LENGTH)} characters`);
      return;
    }
    if (this.#operations.has(id)) {
      this.#close(CloseCode.SubscriberAlreadyExists, `Subscriber for ${id} already exists`);
      return;
    }
    const operation = this.#operations.add(id, bytes);
    if (operation) this.#options.run(operation, { payload, identity: this.#identity, request: this.#request });
  }

  #end(cause: string): void {
    clearTimeout(this.#initTimer);
    this.#unwatchCaller?.();
    this.#queue.close();
    this.#operations.stopAll(cause);
  }
}
