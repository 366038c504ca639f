/** One operation whose results are sent in an HTTP response that stays open. */
import type { RequestContext } from '../../request/context.ts';
import type { OperationResult } from '../../request/operation.ts';
import type { StreamEnd, Subscriber, Subscription, SubscriptionEvent } from '../../request/subscriber.ts';
import { type EndReason, toStreamEnd } from '../../subscriptions/stream-end.ts';
import type { SendQueue } from './send-queue.ts';
import type { ResultFormat } from './stream-format.ts';

export interface StreamedOperationOptions {
  readonly context: Pick<RequestContext, 'requestId' | 'cancellation'>;
  readonly format: ResultFormat;
  /** Opens the response, unless it is open, and returns its queue. */
  readonly open: () => SendQueue;
  /** Throws SERVICE_UNAVAILABLE when {@link open} would exceed a limit. Default: it never does. */
  readonly requireRoom?: (() => void) | undefined;
  /** Returns whether the credential of the caller is still valid. */
  readonly isAuthorized: () => boolean;
  /** Called when a subscription begins. */
  readonly onBegin: (subscription: Subscription) => void;
  /** Called once, after the last message. */
  readonly onEnd: (cause: string) => void;
}

const SHUTDOWN: EndReason = { cause: 'shutdown', code: 'SERVICE_UNAVAILABLE', message: 'The server is shutting down.' };
const REVOKED: EndReason = { cause: 'unauthorized', code: 'UNAUTHORIZED', message: 'The credential has expired or was revoked.' };

export class StreamedOperation implements Subscriber {
  readonly #options: StreamedOperationOptions;
  #subscription: Subscription | undefined;
  #isEnded = false;
  /** Set while {@link finish} waits for the operation. */
  #onEnded: (() => void) | undefined;

  constructor(options: StreamedOperationOptions) {
    this.#options = options;
  }

  /** Whether it gets no more results. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  requireRoom(): void {
    this.#options.requireRoom?.();
  }

  begin(subscription: Subscription): void {
    if (this.#isEnded) {
      subscription.stop();
      return;
    }
    this.#subscription = subscription;
    this.#options.open();
    this.#options.onBegin(subscription);
    const onEnded = this.#onEnded;
    this.#onEnded = undefined;
    if (onEnded) this.finish(onEnded);
  }

  next(event: SubscriptionEvent): void {
    if (this.#isEnded) return;
    const { isAuthorized, open, format } = this.#options;
    const envelope = event.position === undefined ? undefined : format.resultAt?.(event.position);
    if (isAuthorized()) open().sendEvent(envelope ?? format.result, event);
    else this.revoke();
  }

  /** Ends the operation because the credential of the caller is no longer valid. */
  revoke(): void {
    this.#subscription?.stop();
    this.end(toStreamEnd(REVOKED, this.#options.context.requestId));
  }

  end({ cause, errors }: StreamEnd): void {
    if (this.#isEnded) return;
    const { open, format } = this.#options;
    const queue = open();
    if (errors.length > 0) queue.send(format.failure, Buffer.from(JSON.stringify(errors)));
    queue.send(format.ending);
    this.#end(cause);
  }

  /** Sends the result of a query or mutation. */
  sendResult({ bytes, length, release, outcome, rest }: OperationResult): void {
    if (!this.#isEnded) {
      const { open, format } = this.#options;
      const queue = open();
      queue.send(format.result, Buffer.from(bytes.subarray(0, length)));
      if (!rest) this.#complete(outcome);
    }
    release?.();
    rest?.((part, end) => {
      if (this.#isEnded) return;
      this.#options.open().send(this.#options.format.result, part);
      if (end) this.#complete(end);
    });
  }

  #complete(outcome: string): void {
    // The client may have been disconnected with the result, because it reads too slowly.
    if (this.#isEnded) return;
    const { open, format } = this.#options;
    open().send(format.ending);
    this.#end(outcome);
  }

  /** Ends the operation without a message, and cancels the fetches of a query. */
  stop(cause: string): void {
    if (this.#isEnded) return;
    // First, because a query whose fetches are cancelled may have its result at once.
    this.#end(cause);
    this.#subscription?.stop();
    this.#options.context.cancellation.cancel();
  }

  /**
   * Calls back when the operation has ended. A subscription sends every event received so far and reports the shutdown; a query or mutation, which
   * has a time limit, sends its result.
   */
  finish(done: () => void): void {
    if (this.#isEnded) done();
    else if (this.#subscription)
      this.#subscription.finish(() => {
        if (this.#options.format.reportsShutdown) this.end(toStreamEnd(SHUTDOWN, this.#options.context.requestId));
        else this.stop('shutdown');
        done();
      });
    else this.#onEnded = done;
  }

  #end(cause: string): void {
    this.#isEnded = true;
    this.#options.onEnd(cause);
    this.#onEnded?.();
  }
}
