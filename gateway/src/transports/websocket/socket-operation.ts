/** One operation of a WebSocket: its results become messages with its id. */
import { randomUUID } from 'node:crypto';
import type { Fault } from '@trestle/schema/errors';
import { MessageType } from 'graphql-ws/client';
import { formatFault } from '../../errors/format-fault.ts';
import type { Cancellation } from '@trestle/service/process/cancellation';
import type { OperationResult } from '../../request/operation.ts';
import type { StreamEnd, Subscriber, Subscription, SubscriptionEvent } from '../../request/subscriber.ts';
import { type Envelope, type SendQueue, toEnvelope } from '../delivery/send-queue.ts';

const CLOSE_BRACE = Buffer.from('}');

/** Follows an operation from the pipeline to its end, for metrics and logs. */
export interface OperationWatch {
  readonly cancellation: Cancellation;
  readonly onBegin: (subscription: Subscription) => void;
  readonly onEnd: (cause: string) => void;
}

/** The connection of the operation. */
export interface Channel {
  readonly queue: SendQueue;
  /** Returns whether the credential of the caller is still valid; closes the connection otherwise. */
  readonly isAuthorized: () => boolean;
  /** Closes the connection because the credential of the caller is no longer valid. */
  readonly revoke: () => void;
  /** Removes the operation from the connection. */
  readonly remove: () => void;
}

export class SocketOperation implements Subscriber {
  readonly requestId = randomUUID();
  readonly #id: string;
  readonly #channel: Channel;
  readonly #next: Envelope;
  #subscription: Subscription | undefined;
  #watch: OperationWatch | undefined;
  /** Set while {@link finish} waits for the operation. */
  #onFinished: (() => void) | undefined;
  #isEnded = false;

  constructor(id: string, channel: Channel) {
    this.#id = id;
    this.#channel = channel;
    this.#next = { head: Buffer.from(`{"id":${JSON.stringify(id)},"type":"next","payload":`), tail: CLOSE_BRACE };
  }

  watch(watch: OperationWatch): void {
    this.#watch = watch;
  }

  begin(subscription: Subscription): void {
    if (this.#isEnded) {
      subscription.stop();
      return;
    }
    this.#subscription = subscription;
    this.#watch?.onBegin(subscription);
    if (this.#onFinished) subscription.finish(this.#onFinished);
    this.#onFinished = undefined;
  }

  next(event: SubscriptionEvent): void {
    if (!this.#isEnded && this.#channel.isAuthorized()) this.#channel.queue.sendEvent(this.#next, event);
  }

  end({ cause, errors }: StreamEnd): void {
    if (this.#isEnded) return;
    if (cause === 'unauthorized') {
      this.#end(cause);
      this.#channel.revoke();
      return;
    }
    if (cause === 'refused') this.#send({ id: this.#id, type: MessageType.Error, payload: errors });
    else {
      if (errors.length > 0) this.#channel.queue.send(this.#next, Buffer.from(JSON.stringify({ errors })));
      this.#send({ id: this.#id, type: MessageType.Complete });
    }
    this.#end(cause);
  }

  /** Sends the result of a query or mutation, or the errors of an operation that was refused. */
  sendResult({ outcome, bytes, length, release, rest }: OperationResult): void {
    if (!this.#isEnded) {
      const { queue } = this.#channel;
      const errors = outcome === 'refused' ? readErrors(bytes, length) : undefined;
      if (errors) this.#send({ id: this.#id, type: MessageType.Error, payload: errors });
      else queue.send(this.#next, Buffer.from(bytes.subarray(0, length)));
      if (!rest) this.#complete(outcome, errors !== undefined);
    }
    release?.();
    rest?.((part, end) => {
      if (this.#isEnded) return;
      this.#channel.queue.send(this.#next, part);
      if (end) this.#complete(end, false);
    });
  }

  #complete(outcome: string, isRefused: boolean): void {
    if (!isRefused) this.#send({ id: this.#id, type: MessageType.Complete });
    this.#end(outcome);
  }

  refuse(fault: Fault): void {
    this.end({ cause: 'refused', errors: [formatFault(fault, this.requestId)] });
  }

  /** Ends the operation without a message. */
  stop(cause: string): void {
    if (this.#isEnded) return;
    // First, because a query whose fetches are cancelled may have its result at once.
    this.#end(cause);
    this.#subscription?.stop();
    this.#watch?.cancellation.cancel();
  }

  /** Calls back after every event received so far has been sent, or when the operation has ended. */
  finish(done: () => void): void {
    if (this.#subscription) this.#subscription.finish(done);
    else if (this.#isEnded) done();
    else this.#onFinished = done;
  }

  #end(cause: string): void {
    this.#isEnded = true;
    this.#channel.remove();
    this.#watch?.onEnd(cause);
    this.#onFinished?.();
  }

  #send(message: object): void {
    this.#channel.queue.send(toEnvelope(JSON.stringify(message)));
  }
}

/**
 * Returns the errors of a result: the message `error` has the list alone. An extension may have replaced the result by any object; without errors it is
 * sent as any other.
 */
function readErrors(bytes: Buffer, length: number): readonly object[] | undefined {
  const { errors } = JSON.parse(bytes.toString('utf8', 0, length)) as { readonly errors?: unknown };
  return Array.isArray(errors) && errors.length > 0 && errors.every(hasMessage) ? errors : undefined;
}

function hasMessage(error: unknown): error is object {
  return typeof (error as { readonly message?: unknown } | null)?.message === 'string';
}
