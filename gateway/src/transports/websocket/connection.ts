/** One WebSocket of a client: the server's side of graphql-transport-ws, as one switch over its messages. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { TokenVerifier } from '@trestle/identity/tokens';
import type { Log } from '@trestle/log';
import { Fault, fail } from '@trestle/schema/errors';
import { closeSocket } from '@trestle/service/close-socket';
import { CloseCode, type Message, MessageType, parseMessage } from 'graphql-ws/client';
import { WebSocket } from 'ws';
import { type Identity, identify, readConnectionParams } from '../../request/caller.ts';
import { parseJson } from '../../request/json.ts';
import { toTextFrame } from './frame.ts';
import type { LiveMetrics } from '../../observability/subscription-metrics.ts';
import { Mailbox, type MailboxLimits, toEnvelope } from '../delivery/send-queue.ts';
import { OpenOperation } from './socket-operation.ts';
import { answerPings } from './pings.ts';
import type { SendBuffers } from '../delivery/send-buffers.ts';

export interface SocketLimits {
  /** The most operations at a time. */
  readonly maxOperations: number;
  /** The largest message, and the most that open operations were asked for with together. */
  readonly maxMessageBytes: number;
  readonly initTimeoutMs: number;
  readonly queue: MailboxLimits;
}

export interface ConnectionOptions extends SocketLimits {
  readonly verifier: TokenVerifier | undefined;
  readonly forwardHeaders: readonly string[];
  readonly buffers: SendBuffers;
  readonly metrics: LiveMetrics;
  readonly log: Log;
  readonly run: (operation: OpenOperation, asked: Asked) => void;
  /** Called when the client has gone. */
  readonly onEnd: (connection: Connection) => void;
}

/** An operation as its message tells it. */
export interface Asked {
  readonly payload: Readonly<Record<string, unknown>>;
  readonly identity: Identity;
  readonly request: IncomingMessage;
}

/** Of our own, where the protocol leaves numbers free: the client does not read what it asked for. */
export const SLOW_CONSUMER = 4413;
const GOING_AWAY = 1001;
/** Each message about an operation repeats its id. */
const MAX_ID_CHARACTERS = 200;

/** A pong repeats the payload of a ping, which the protocol leaves to the server, up to this size of the message. */
const MAX_ECHOED_BYTES = 16 * 1024;

const PONG = toEnvelope(JSON.stringify({ type: MessageType.Pong }));
const ACK = toEnvelope(JSON.stringify({ type: MessageType.ConnectionAck }));

export class Connection {
  readonly #socket: WebSocket;
  readonly #request: IncomingMessage;
  readonly #options: ConnectionOptions;
  readonly #operations = new Map<string, OpenOperation>();
  readonly mailbox: Mailbox;
  #identity: Identity | undefined;
  #isInitialised = false;
  #isDraining = false;
  #isAlive = true;
  /** What the open operations were asked for with: it is kept as long as they are. */
  #heldBytes = 0;
  /** For the time that a client may take to introduce itself. */
  readonly #timer: NodeJS.Timeout;
  #ignoreCaller: (() => void) | undefined;

  /** `stream` is what the socket writes to. */
  constructor(socket: WebSocket, { request, stream, options }: { request: IncomingMessage; stream: Duplex; options: ConnectionOptions }) {
    this.#socket = socket;
    this.#request = request;
    this.#options = options;
    this.mailbox = new Mailbox({
      stream,
      limits: options.queue,
      buffers: options.buffers,
      pack: toTextFrame,
      onDropped: options.metrics.dropped,
      onOverflow: () => {
        this.#giveUp();
      },
      onStuck: () => {
        this.#giveUp();
        this.terminate();
      },
    });
    this.#timer = setTimeout(() => {
      this.close(CloseCode.ConnectionInitialisationTimeout, 'Connection initialisation timeout');
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
      options.onEnd(this);
    });
  }

  /** Called now and then: asks for a sign of life, and gives up a client that gave none since the last time. */
  ping(): void {
    if (!this.#isAlive) this.#socket.terminate();
    else if (this.#socket.readyState === WebSocket.OPEN) {
      this.#isAlive = false;
      this.#socket.ping();
    }
  }

  /** Closes from this side; nothing is sent before it that is not on its way yet. */
  close(code: number, reason: string, cause = 'stopped'): void {
    this.mailbox.close();
    closeSocket(this.#socket, code, reason);
    this.#end(cause);
  }

  /** Takes nothing new. */
  refuseMore(): void {
    this.#isDraining = true;
  }

  /** Tells all that has come so far, then says that it goes away; calls back when the client has gone. */
  leave(done: () => void): void {
    this.#isDraining = true;
    this.#socket.once('close', done);
    if (this.#socket.readyState !== WebSocket.OPEN) {
      done();
      return;
    }
    let open = this.#operations.size + 1;
    const settle = () => {
      if (--open > 0) return;
      this.mailbox.whenEmpty(() => {
        this.close(GOING_AWAY, 'Going away', 'shutdown');
      });
    };
    for (const operation of [...this.#operations.values()]) operation.finish(settle);
    settle();
  }

  terminate(): void {
    this.#socket.terminate();
  }

  /** Whether the caller may be told anything still; closes when not. */
  readonly #admits = (): boolean => {
    const { verifier } = this.#options;
    const caller = this.#identity?.caller;
    if (!caller || !verifier || verifier.isValid(caller)) return true;
    this.#forbid();
    return false;
  };

  readonly #forbid = (): void => {
    this.close(CloseCode.Forbidden, 'Forbidden: the credential holds no longer', 'unauthorized');
  };

  #giveUp(): void {
    this.close(SLOW_CONSUMER, 'Slow consumer: messages were not read in time', 'slow-consumer');
  }

  /** Whatever goes wrong behind a client's message ends its connection, never the process. */
  #guard(act: () => void): void {
    try {
      act();
    } catch (error) {
      this.#options.log.error('socket failed', { error });
      this.close(CloseCode.InternalServerError, 'Internal server error');
    }
  }

  #receive(data: Buffer, isBinary: boolean): void {
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    let message: Message;
    try {
      if (isBinary) throw new Error('Messages are text');
      message = parseMessage(parseJson(data.toString()));
    } catch {
      this.close(CloseCode.BadRequest, 'Invalid message received');
      return;
    }
    this.#isAlive = true;
    switch (message.type) {
      case MessageType.ConnectionInit:
        this.#initialise(message.payload);
        return;
      case MessageType.Ping:
        this.mailbox.post(
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
        this.close(CloseCode.BadRequest, `Unexpected message of type ${message.type}`);
    }
  }

  #initialise(payload: unknown): void {
    if (this.#isInitialised) {
      this.close(CloseCode.TooManyInitialisationRequests, 'Too many initialisation requests');
      return;
    }
    this.#isInitialised = true;
    clearTimeout(this.#timer);
    try {
      this.#identity = identify(this.#request, this.#options, readConnectionParams(payload));
    } catch (error) {
      const isMalformed = error instanceof Fault && error.code === 'VALIDATION_ERROR';
      this.close(isMalformed ? CloseCode.BadRequest : CloseCode.Forbidden, isMalformed ? error.message : 'Forbidden');
      return;
    }
    const { caller } = this.#identity;
    // A credential may end without an event to tell it by.
    if (caller) this.#ignoreCaller = this.#options.verifier?.watch(caller, this.#forbid);
    this.mailbox.post(ACK);
  }

  #subscribe(id: string, { payload, bytes }: { payload: Readonly<Record<string, unknown>>; bytes: number }): void {
    const { maxOperations, maxMessageBytes, run } = this.#options;
    if (!this.#identity) {
      this.close(CloseCode.Unauthorized, 'Unauthorized');
      return;
    }
    if (!this.#admits()) return;
    if (id.length > MAX_ID_CHARACTERS) {
      this.close(CloseCode.BadRequest, 'The id is too long');
      return;
    }
    if (this.#operations.has(id)) {
      this.close(CloseCode.SubscriberAlreadyExists, `Subscriber for ${id} already exists`);
      return;
    }
    const operation = new OpenOperation(id, {
      mailbox: this.mailbox,
      admits: this.#admits,
      forbid: this.#forbid,
      forget: () => {
        if (this.#operations.delete(id)) this.#heldBytes -= bytes;
      },
    });
    this.#operations.set(id, operation);
    this.#heldBytes += bytes;
    if (this.#isDraining) operation.refuse(fail('SERVICE_UNAVAILABLE', 'The server is going down'));
    else if (this.#operations.size > maxOperations)
      operation.refuse(fail('RATE_LIMIT_EXCEEDED', `A socket takes ${String(maxOperations)} operations at a time`));
    else if (this.#heldBytes > maxMessageBytes)
      operation.refuse(fail('RATE_LIMIT_EXCEEDED', `The open operations of a socket take ${String(maxMessageBytes)} bytes together`));
    else run(operation, { payload, identity: this.#identity, request: this.#request });
  }

  #end(cause: string): void {
    clearTimeout(this.#timer);
    this.#ignoreCaller?.();
    this.mailbox.close();
    for (const operation of [...this.#operations.values()]) operation.stop(cause);
    this.#operations.clear();
  }
}
