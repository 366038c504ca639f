/** One WebSocket of a client: the server side of graphql-transport-ws, as one switch over its messages. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { Fault, fail } from '@trestle/schema/errors';
import { closeSocket } from '@trestle/service/close-socket';
import { CloseCode, MessageType } from 'graphql-ws/client';
import { WebSocket } from 'ws';
import { type Identity, identify, readConnectionParams } from '../../request/caller.ts';
import { SendQueue, toEnvelope } from '../delivery/send-queue.ts';
import type { ConnectionOptions } from './connection-options.ts';
import { toTextFrame } from './frame.ts';
import { parseClientMessage } from './parse-message.ts';
import { answerPings } from './pings.ts';
import { SocketOperation } from './socket-operation.ts';

/** A close code of ours, in the range that the protocol leaves free: the client does not read its messages. */
export const SLOW_CONSUMER = 4413;
const GOING_AWAY = 1001;
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
  readonly #operations = new Map<string, SocketOperation>();
  readonly #queue: SendQueue;
  #identity: Identity | undefined;
  #isInitialised = false;
  #isDraining = false;
  #isAlive = true;
  /** Bytes of the messages that open operations began with: they are kept as long. */
  #heldBytes = 0;
  /** The time limit of `connection_init`. */
  readonly #initTimer: NodeJS.Timeout;
  #unwatchCaller: (() => void) | undefined;

  /** `stream` is what the socket writes to. */
  constructor(socket: WebSocket, { request, stream, options }: { request: IncomingMessage; stream: Duplex; options: ConnectionOptions }) {
    this.#socket = socket;
    this.#request = request;
    this.#options = options;
    this.#queue = this.#createQueue(stream);
    this.#initTimer = setTimeout(() => {
      this.#close(CloseCode.ConnectionInitialisationTimeout, 'Connection initialisation timeout');
    }, options.initTimeoutMs);
    socket.on('message', (data: Buffer, isBinary) => {
      this.#guard(() => {
        this.#receive(data, isBinary);
      });
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
    this.#isDraining = true;
  }

  /** Sends every event received so far, then closes the connection; calls back when it is closed. */
  finish(done: () => void): void {
    this.#isDraining = true;
    this.#socket.once('close', done);
    if (this.#socket.readyState !== WebSocket.OPEN) {
      done();
      return;
    }
    let open = this.#operations.size + 1;
    const settle = () => {
      if (--open > 0) return;
      this.#queue.whenEmpty(() => {
        this.#close(GOING_AWAY, 'Going away', 'shutdown');
      });
    };
    for (const operation of [...this.#operations.values()]) operation.finish(settle);
    settle();
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
        this.#operations.get(message.id)?.stop('stopped');
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
      this.#identity = identify(this.#request, this.#options, readConnectionParams(payload));
    } catch (error) {
      const isMalformed = error instanceof Fault && error.code === 'VALIDATION_ERROR';
      this.#close(isMalformed ? CloseCode.BadRequest : CloseCode.Forbidden, isMalformed ? error.message : 'Forbidden');
      return;
    }
    const { caller } = this.#identity;
    if (caller) this.#unwatchCaller = this.#options.verifier?.watch(caller, this.#revoke);
    this.#queue.send(ACK);
  }

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
    const operation = this.#addOperation(id, bytes);
    const refusal = this.#findRefusal();
    if (refusal) operation.refuse(refusal);
    else this.#options.run(operation, { payload, identity: this.#identity, request: this.#request });
  }

  #addOperation(id: string, bytes: number): SocketOperation {
    const operation = new SocketOperation(id, {
      queue: this.#queue,
      isAuthorized: this.#isAuthorized,
      revoke: this.#revoke,
      remove: () => {
        if (this.#operations.delete(id)) this.#heldBytes -= bytes;
      },
    });
    this.#operations.set(id, operation);
    this.#heldBytes += bytes;
    return operation;
  }

  /** Returns why the operation that was added last must not run. */
  #findRefusal(): Fault | undefined {
    const { maxOperations, maxMessageBytes } = this.#options;
    if (this.#isDraining) return fail('SERVICE_UNAVAILABLE', 'The server is shutting down.');
    if (this.#operations.size > maxOperations)
      return fail('RATE_LIMIT_EXCEEDED', `The connection has reached its limit of ${String(maxOperations)} operations.`);
    if (this.#heldBytes > maxMessageBytes)
      return fail('RATE_LIMIT_EXCEEDED', `The open operations of the connection exceed the limit of ${String(maxMessageBytes)} bytes.`);
    return undefined;
  }

  #end(cause: string): void {
    clearTimeout(this.#initTimer);
    this.#unwatchCaller?.();
    this.#queue.close();
    for (const operation of [...this.#operations.values()]) operation.stop(cause);
    this.#operations.clear();
  }
}
