/**
 * The messages that wait for one client. While the client reads, messages go straight to its stream. When it does not, they are queued up to a limit,
 * as references to bytes that all subscribers share.
 */
import type { Writable } from 'node:stream';
import type { SubscriptionEvent } from '../../request/subscriber.ts';
import type { SendBuffers, WaitingClient } from './send-buffers.ts';

export const SLOW_POLICIES = ['close', 'drop-oldest', 'drop-newest'] as const;
/** What happens to a client that reads too slowly: it is disconnected, or misses events. */
export type SlowPolicy = (typeof SLOW_POLICIES)[number];

export interface QueueLimits {
  readonly maxMessages: number;
  readonly maxBytes: number;
  readonly policy: SlowPolicy;
}

/** The bytes before and after the body of a message. */
export interface Envelope {
  readonly head: Buffer;
  readonly tail: Buffer;
}

const EMPTY = Buffer.alloc(0);

/** Returns the envelope of a message without a shared body. */
export function toEnvelope(text: string): Envelope {
  return { head: Buffer.from(text), tail: EMPTY };
}

export interface SendQueueOptions {
  /** Where messages are written. Without it they are queued until {@link SendQueue.attach}. */
  readonly stream?: Writable | undefined;
  readonly limits: QueueLimits;
  /** Shared by all queues of the process. */
  readonly buffers: SendBuffers;
  /** Returns the bytes to write for one message. */
  readonly pack: (envelope: Envelope, body: Buffer) => Buffer;
  /** Called when the client reads too slowly. The queue is closed then. */
  readonly onOverflow: () => void;
  /** Called when the client has read nothing for too long, or too many bytes wait in the process: its connection must be destroyed. */
  readonly onStalled: () => void;
  /** Called for each event that was dropped. */
  readonly onDropped: () => void;
}

interface QueuedMessage {
  readonly envelope: Envelope;
  readonly body: Buffer;
  readonly isDroppable: boolean;
}

export class SendQueue implements WaitingClient {
  readonly #options: SendQueueOptions;
  #stream: Writable | undefined;
  #messages: QueuedMessage[] = [];
  #bytes = 0;
  #isBlocked = true;
  #isClosed = false;
  #onEmpty: (() => void) | undefined;

  constructor(options: SendQueueOptions) {
    this.#options = options;
    if (options.stream) this.attach(options.stream);
    else options.buffers.add(this);
  }

  /** Writes the queued messages, and all later ones, to this stream. Called once. */
  attach(stream: Writable): void {
    this.#stream = stream;
    stream.once('close', () => {
      this.close();
      this.#options.buffers.remove(this);
    });
    this.#resume();
  }

  get queuedBytes(): number {
    return this.#bytes;
  }

  get unsentBytes(): number {
    return this.#stream ? countUnsent(this.#stream) : 0;
  }

  disconnect(): void {
    this.close();
    this.#options.onStalled();
  }

  /** Sends an event. One with a position is never dropped: without room the client is disconnected, and resumes after its last position. */
  sendEvent(envelope: Envelope, { bytes, position }: Pick<SubscriptionEvent, 'bytes' | 'position'>): void {
    this.#send({ envelope, body: bytes, isDroppable: position === undefined });
  }

  /** Sends a message that may be dropped, such as a heartbeat. */
  sendDroppable(envelope: Envelope, body = EMPTY): void {
    this.#send({ envelope, body, isDroppable: true });
  }

  /** Sends a message that is never dropped, such as the end of a stream. */
  send(envelope: Envelope, body: Buffer = EMPTY): void {
    this.#send({ envelope, body, isDroppable: false });
  }

  /** Calls back when no message is queued, at once if that is so. */
  whenEmpty(done: () => void): void {
    if (this.#messages.length === 0) done();
    else this.#onEmpty = done;
  }

  /** Discards queued messages and ignores later ones. What the stream has is still sent. */
  close(): void {
    this.#isClosed = true;
    for (const message of this.#messages.splice(0)) this.#release(message);
  }

  #send(message: QueuedMessage): void {
    if (this.#isClosed) return;
    if (this.#isBlocked) this.#enqueue(message);
    else this.#write(message);
  }

  /** Returns whether the stream accepts more. */
  #write({ envelope, body }: QueuedMessage): boolean {
    const { pack, buffers } = this.#options;
    const stream = this.#stream as Writable;
    if (stream.write(pack(envelope, body))) return true;
    this.#isBlocked = true;
    stream.once('drain', this.#resume);
    buffers.add(this);
    return false;
  }

  readonly #resume = (): void => {
    this.#options.buffers.remove(this);
    this.#isBlocked = false;
    for (let message = this.#messages.shift(); message; message = this.#messages.shift()) {
      this.#release(message);
      if (!this.#write(message)) break;
    }
    if (this.#messages.length > 0) return;
    this.#onEmpty?.();
    this.#onEmpty = undefined;
  };

  #enqueue(message: QueuedMessage): void {
    const { limits, buffers, onOverflow, onDropped } = this.#options;
    if (limits.policy === 'drop-newest' && message.isDroppable && !this.#hasRoomFor(message)) {
      onDropped();
      return;
    }
    this.#messages.push(message);
    this.#bytes += sizeOf(message);
    // This may disconnect this very client.
    buffers.retain(envelopeSize(message), message.body);
    while (limits.policy === 'drop-oldest' && this.#isOverfull() && this.#dropOldest()) onDropped();
    if (this.#isOverfull()) {
      this.close();
      onOverflow();
    }
  }

  #release(message: QueuedMessage): void {
    this.#bytes -= sizeOf(message);
    this.#options.buffers.release(envelopeSize(message), message.body);
  }

  #hasRoomFor(message: QueuedMessage): boolean {
    const { maxMessages, maxBytes } = this.#options.limits;
    return this.#messages.length < maxMessages && this.#bytes + sizeOf(message) <= maxBytes;
  }

  #isOverfull(): boolean {
    const { maxMessages, maxBytes } = this.#options.limits;
    return this.#messages.length > maxMessages || this.#bytes > maxBytes;
  }

  #dropOldest(): boolean {
    const oldest = this.#messages.findIndex(({ isDroppable }) => isDroppable);
    if (oldest < 0) return false;
    for (const dropped of this.#messages.splice(oldest, 1)) this.#release(dropped);
    return true;
  }
}

function envelopeSize({ envelope: { head, tail } }: QueuedMessage): number {
  return head.length + tail.length;
}

function sizeOf(message: QueuedMessage): number {
  return envelopeSize(message) + message.body.length;
}

/** Counts the bytes in the stream and in libuv's queue of its connection, which shrinks within one large write while the stream does not. */
function countUnsent(stream: Writable): number {
  const connection = (stream as Writable & { readonly socket?: unknown }).socket ?? stream;
  const { _handle: handle } = connection as { readonly _handle?: { readonly writeQueueSize?: number } | null };
  return stream.writableLength + (handle?.writeQueueSize ?? 0);
}
