/**
 * What waits to be sent to one client. As long as the client reads, everything goes straight out; once it does not, messages are kept up to a limit,
 * as references to bytes that all listeners share. Nothing else of ours holds anything for a client.
 */
import type { Writable } from 'node:stream';
import type { LiveEvent } from '../../engines/engine.ts';
import type { SendBuffers, Waiter } from './send-buffers.ts';

export const SLOW_POLICIES = ['close', 'drop-oldest', 'drop-newest'] as const;
/** What is done for a client that reads too slowly: it is sent away, or misses events. */
export type SlowPolicy = (typeof SLOW_POLICIES)[number];

export interface MailboxLimits {
  readonly maxMessages: number;
  readonly maxBytes: number;
  readonly policy: SlowPolicy;
}

/** What stands before and behind each message of one subscription. */
export interface Envelope {
  readonly head: Buffer;
  readonly tail: Buffer;
}

const NOTHING = Buffer.alloc(0);

/** A message that is the same for nobody else. */
export function toEnvelope(text: string): Envelope {
  return { head: Buffer.from(text), tail: NOTHING };
}

export interface MailboxOptions {
  /** Where messages go. Without it they are kept until {@link Mailbox.attach} names it. */
  readonly stream?: Writable | undefined;
  readonly limits: MailboxLimits;
  /** Shared by all mailboxes of the process. */
  readonly buffers: SendBuffers;
  /** Makes the bytes that are written of one message. */
  readonly pack: (envelope: Envelope, body: Buffer) => Buffer;
  /** The client is too slow: it is to be sent away. Nothing is sent from then on. */
  readonly onOverflow: () => void;
  /** The client has read nothing for too long, or too much waits in the process: its connection is to be destroyed at once. */
  readonly onStuck: () => void;
  readonly onDropped: () => void;
}

interface Kept {
  readonly envelope: Envelope;
  readonly body: Buffer;
  /** Only events may be dropped. */
  readonly isEvent: boolean;
}

export class Mailbox implements Waiter {
  readonly #options: MailboxOptions;
  #stream: Writable | undefined;
  #kept: Kept[] = [];
  #bytes = 0;
  #isStalled = true;
  #isClosed = false;
  #onEmpty: (() => void) | undefined;

  constructor(options: MailboxOptions) {
    this.#options = options;
    if (options.stream) this.attach(options.stream);
    else options.buffers.enter(this);
  }

  /** Sends what is kept, and all that comes from now on, to this stream. Called once. */
  attach(stream: Writable): void {
    this.#stream = stream;
    stream.once('close', () => {
      this.close();
      this.#options.buffers.leave(this);
    });
    this.#resume();
  }

  get keptBytes(): number {
    return this.#bytes;
  }

  get unsentBytes(): number {
    return this.#stream ? countUnsent(this.#stream) : 0;
  }

  cut(): void {
    this.close();
    this.#options.onStuck();
  }

  /** Sends an event. Who asks for positions is to miss nothing: for want of room he is sent away, and comes again. */
  postLive(envelope: Envelope, { bytes, position }: Pick<LiveEvent, 'bytes' | 'position'>): void {
    this.#post(envelope, bytes, position === undefined);
  }

  /** Sends what may be dropped for want of room, now or once the client reads again. */
  postEvent(envelope: Envelope, body: Buffer): void {
    this.#post(envelope, body, true);
  }

  /** Sends what must not be missing, such as an end. */
  post(envelope: Envelope, body = NOTHING): void {
    this.#post(envelope, body, false);
  }

  /** Calls back once nothing is kept; at once if nothing is. */
  whenEmpty(done: () => void): void {
    if (this.#kept.length === 0) done();
    else this.#onEmpty = done;
  }

  /** Sends nothing more, and forgets what is kept. What was written already goes out as far as the client reads. */
  close(): void {
    this.#isClosed = true;
    for (const message of this.#kept.splice(0)) this.#forget(message);
  }

  #post(envelope: Envelope, body: Buffer, isEvent: boolean): void {
    if (this.#isClosed) return;
    if (this.#isStalled) this.#keep({ envelope, body, isEvent });
    else this.#write(envelope, body);
  }

  /** Gives false when the client has to read before more is sent. */
  #write(envelope: Envelope, body: Buffer): boolean {
    const { pack, buffers } = this.#options;
    const stream = this.#stream as Writable;
    if (stream.write(pack(envelope, body))) return true;
    this.#isStalled = true;
    stream.once('drain', this.#resume);
    buffers.enter(this);
    return false;
  }

  readonly #resume = (): void => {
    this.#options.buffers.leave(this);
    this.#isStalled = false;
    for (let message = this.#kept.shift(); message; message = this.#kept.shift()) {
      this.#forget(message);
      if (!this.#write(message.envelope, message.body)) break;
    }
    if (this.#kept.length > 0) return;
    this.#onEmpty?.();
    this.#onEmpty = undefined;
  };

  #keep(message: Kept): void {
    const { limits, buffers, onOverflow, onDropped } = this.#options;
    if (limits.policy === 'drop-newest' && message.isEvent && !this.#hasRoomFor(message)) {
      onDropped();
      return;
    }
    this.#kept.push(message);
    this.#bytes += sizeOf(message);
    // May cut this very client.
    buffers.hold(envelopeSize(message), message.body);
    while (limits.policy === 'drop-oldest' && this.#isOverfull() && this.#dropOldest()) onDropped();
    if (this.#isOverfull()) {
      this.close();
      onOverflow();
    }
  }

  #forget(message: Kept): void {
    this.#bytes -= sizeOf(message);
    this.#options.buffers.free(envelopeSize(message), message.body);
  }

  #hasRoomFor(message: Kept): boolean {
    const { maxMessages, maxBytes } = this.#options.limits;
    return this.#kept.length < maxMessages && this.#bytes + sizeOf(message) <= maxBytes;
  }

  #isOverfull(): boolean {
    const { maxMessages, maxBytes } = this.#options.limits;
    return this.#kept.length > maxMessages || this.#bytes > maxBytes;
  }

  #dropOldest(): boolean {
    const oldest = this.#kept.findIndex(({ isEvent }) => isEvent);
    if (oldest < 0) return false;
    for (const dropped of this.#kept.splice(oldest, 1)) this.#forget(dropped);
    return true;
  }
}

function envelopeSize({ envelope: { head, tail } }: Kept): number {
  return head.length + tail.length;
}

function sizeOf(message: Kept): number {
  return envelopeSize(message) + message.body.length;
}

/** What the stream and, as far as Node tells it, its connection's queue in libuv hold. The latter shrinks within one large write, the former does not. */
function countUnsent(stream: Writable): number {
  const connection = (stream as Writable & { readonly socket?: unknown }).socket ?? stream;
  const { _handle: handle } = connection as { readonly _handle?: { readonly writeQueueSize?: number } | null };
  return stream.writableLength + (handle?.writeQueueSize ?? 0);
}
