/** One operation of a WebSocket: what it is told becomes messages with its id. */
import type { Fault } from '@trestle/schema/errors';
import { MessageType } from 'graphql-ws/client';
import type { EngineReply, Listener, LiveEvent, StreamEnd, Subscription } from '../../engines/engine.ts';
import type { Trail } from '../../request/trail.ts';
import { abort } from '../../request/trail.ts';
import { type Envelope, type Mailbox, toEnvelope } from '../delivery/send-queue.ts';

const CLOSE_BRACE = Buffer.from('}');
/** How an answer begins that holds nothing but errors: the message `error` has them without their member's name. */
const ERRORS_AT = '{"errors":'.length;

/** What the door knows of an operation, for its log and metrics. */
export interface OperationWatch {
  readonly requestId: string;
  readonly trail: Trail;
  readonly onBegin: (subscription: Subscription) => void;
  readonly onEnd: (cause: string) => void;
}

/** The connection that it is of. */
export interface Channel {
  readonly mailbox: Mailbox;
  /** Whether the caller may be told anything still; the connection is closed when not. */
  readonly admits: () => boolean;
  readonly forbid: () => void;
  readonly forget: () => void;
}

export class OpenOperation implements Listener {
  readonly #id: string;
  readonly #channel: Channel;
  readonly #next: Envelope;
  #subscription: Subscription | undefined;
  #watch: OperationWatch | undefined;
  #onOver: (() => void) | undefined;
  #isOver = false;

  constructor(id: string, channel: Channel) {
    this.#id = id;
    this.#channel = channel;
    this.#next = { head: Buffer.from(`{"id":${JSON.stringify(id)},"type":"next","payload":`), tail: CLOSE_BRACE };
  }

  watch(watch: OperationWatch): void {
    this.#watch = watch;
  }

  begin(subscription: Subscription): void {
    if (this.#isOver) {
      subscription.stop();
      return;
    }
    this.#subscription = subscription;
    this.#watch?.onBegin(subscription);
    // It was asked to finish while it was on its way.
    if (this.#onOver) subscription.finish(this.#onOver);
    this.#onOver = undefined;
  }

  next(event: LiveEvent): void {
    if (!this.#isOver && this.#channel.admits()) this.#channel.mailbox.postLive(this.#next, event);
  }

  end({ cause, errors }: StreamEnd): void {
    if (this.#isOver) return;
    if (cause === 'unauthorized') {
      this.#over(cause);
      this.#channel.forbid();
      return;
    }
    if (cause === 'refused') this.#send({ id: this.#id, type: MessageType.Error, payload: errors });
    else {
      if (errors.length > 0) this.#channel.mailbox.post(this.#next, Buffer.from(JSON.stringify({ errors })));
      this.#send({ id: this.#id, type: MessageType.Complete });
    }
    this.#over(cause);
  }

  /** Takes the answer of a query or mutation, or why nothing was run. */
  reply({ outcome, bytes, length, release }: EngineReply): void {
    if (!this.#isOver) {
      const { mailbox } = this.#channel;
      const isRefused = outcome === 'refused';
      const own = Buffer.from(isRefused ? bytes.subarray(ERRORS_AT, length - 1) : bytes.subarray(0, length));
      const refusal = { head: Buffer.from(`{"id":${JSON.stringify(this.#id)},"type":"error","payload":`), tail: CLOSE_BRACE };
      mailbox.post(isRefused ? refusal : this.#next, own);
      if (!isRefused) this.#send({ id: this.#id, type: MessageType.Complete });
      this.#over(outcome);
    }
    release?.();
  }

  refuse({ code, message, details }: Fault): void {
    const requestId = this.#watch?.requestId;
    const extensions = { code, ...(details && { details }), ...(requestId && { requestId }) };
    this.end({ cause: 'refused', errors: [{ message, extensions }] });
  }

  /** Nobody wants any more of it. */
  stop(cause: string): void {
    if (this.#isOver) return;
    this.#subscription?.stop();
    if (this.#watch) abort(this.#watch.trail);
    this.#over(cause);
  }

  /** Calls back when all that has come is told. */
  finish(done: () => void): void {
    if (this.#subscription) this.#subscription.finish(done);
    else if (this.#isOver) done();
    else this.#onOver = done;
  }

  #over(cause: string): void {
    this.#isOver = true;
    this.#channel.forget();
    this.#watch?.onEnd(cause);
    this.#onOver?.();
  }

  #send(message: object): void {
    this.#channel.mailbox.post(toEnvelope(JSON.stringify(message)));
  }
}
