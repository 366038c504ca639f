/**
 * What waits to be sent to one client. As long as the client reads, everything goes straight out; once it does not, messages are kept up to a limit,
 * as references to bytes that all listeners share. Nothing else of ours holds anything for a client.
 */
import type { Writable } from 'node:stream';
import type { LiveEvent } from '../engine.ts';

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
  readonly stream: Writable;
  readonly limits: MailboxLimits;
  /** Makes the bytes that are written of one message. */
  readonly pack: (envelope: Envelope, body: Buffer) => Buffer;
  /** The client is too slow: it is to be sent away. Nothing is sent from then on. */
  readonly onOverflow: () => void;
  readonly onDropped: () => void;
}

interface Kept {
  readonly envelope: Envelope;
  readonly body: Buffer;
  /** Only events may be dropped. */
  readonly isEvent: boolean;
}

export class Mailbox {
  readonly #options: MailboxOptions;
  #kept: Kept[] = [];
  #bytes = 0;
  #isStalled = false;
  #isClosed = false;
  #onEmpty: (() => void) | undefined;

  constructor(options: MailboxOptions) {
    this.#options = options;
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

  close(): void {
    this.#isClosed = true;
    this.#kept = [];
    this.#bytes = 0;
  }

  #post(envelope: Envelope, body: Buffer, isEvent: boolean): void {
    if (this.#isClosed) return;
    if (this.#isStalled) this.#keep({ envelope, body, isEvent });
    else this.#write(envelope, body);
  }

  /** Gives false when the client has to read before more is sent. */
  #write(envelope: Envelope, body: Buffer): boolean {
    const { stream, pack } = this.#options;
    if (stream.write(pack(envelope, body))) return true;
    this.#isStalled = true;
    stream.once('drain', this.#resume);
    return false;
  }

  readonly #resume = (): void => {
    this.#isStalled = false;
    let sent = 0;
    for (const { envelope, body } of this.#kept) {
      sent++;
      this.#bytes -= body.length;
      if (!this.#write(envelope, body)) break;
    }
    this.#kept.splice(0, sent);
    if (this.#kept.length > 0) return;
    this.#onEmpty?.();
    this.#onEmpty = undefined;
  };

  #keep(message: Kept): void {
    const { limits, onOverflow, onDropped } = this.#options;
    if (limits.policy === 'drop-newest' && message.isEvent && !this.#hasRoomFor(message)) {
      onDropped();
      return;
    }
    this.#kept.push(message);
    this.#bytes += message.body.length;
    while (limits.policy === 'drop-oldest' && this.#isOverfull() && this.#dropOldest()) onDropped();
    if (!this.#isOverfull()) return;
    this.close();
    onOverflow();
  }

  #hasRoomFor({ body }: Kept): boolean {
    const { maxMessages, maxBytes } = this.#options.limits;
    return this.#kept.length < maxMessages && this.#bytes + body.length <= maxBytes;
  }

  #isOverfull(): boolean {
    const { maxMessages, maxBytes } = this.#options.limits;
    return this.#kept.length > maxMessages || this.#bytes > maxBytes;
  }

  #dropOldest(): boolean {
    const oldest = this.#kept.findIndex(({ isEvent }) => isEvent);
    if (oldest < 0) return false;
    const [dropped] = this.#kept.splice(oldest, 1);
    this.#bytes -= dropped?.body.length ?? 0;
    return true;
  }
}
