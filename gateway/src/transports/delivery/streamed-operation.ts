/** One operation whose results go into an HTTP response that stays open. */
import type { EngineReply, Listener, LiveEvent, StreamEnd, Subscription } from '../../engines/engine.ts';
import type { Mailbox } from './send-queue.ts';
import type { StreamFormat } from './stream-format.ts';

export interface StreamedOperationOptions {
  readonly format: Pick<StreamFormat, 'result' | 'resultAt' | 'ending' | 'failure' | 'tellsShutdown'>;
  /** Opens the response, or gives the one that is open. */
  readonly open: () => Mailbox;
  /** Whether the caller may be told anything still. */
  readonly admits: () => boolean;
  readonly onBegin: (subscription: Subscription) => void;
  /** Everything is told. */
  readonly onEnd: (cause: string) => void;
}

const GOING_DOWN = [{ message: 'The server is going down', extensions: { code: 'SERVICE_UNAVAILABLE' } }];
const UNAUTHORIZED = [{ message: 'The credential holds no longer', extensions: { code: 'UNAUTHORIZED' } }];

export class StreamedOperation implements Listener {
  readonly #options: StreamedOperationOptions;
  #subscription: Subscription | undefined;
  #isOver = false;

  constructor(options: StreamedOperationOptions) {
    this.#options = options;
  }

  begin(subscription: Subscription): void {
    if (this.#isOver) {
      subscription.stop();
      return;
    }
    this.#subscription = subscription;
    this.#options.open();
    this.#options.onBegin(subscription);
  }

  next(event: LiveEvent): void {
    if (this.#isOver) return;
    const { admits, open, format } = this.#options;
    const envelope = event.position === undefined ? undefined : format.resultAt?.(event.position);
    if (admits()) open().postLive(envelope ?? format.result, event);
    else this.forbid();
  }

  /** The caller may be told nothing more. */
  forbid(): void {
    this.#subscription?.stop();
    this.end({ cause: 'unauthorized', errors: UNAUTHORIZED });
  }

  end({ cause, errors }: StreamEnd): void {
    if (this.#isOver) return;
    const { open, format } = this.#options;
    const mailbox = open();
    if (errors.length > 0) mailbox.post(format.failure, Buffer.from(JSON.stringify(errors)));
    mailbox.post(format.ending);
    this.#over(cause);
  }

  /** Takes an answer that is whole. */
  reply({ bytes, length, release, outcome }: EngineReply): void {
    if (!this.#isOver) {
      const { open, format } = this.#options;
      const mailbox = open();
      mailbox.post(format.result, Buffer.from(bytes.subarray(0, length)));
      mailbox.post(format.ending);
      this.#over(outcome);
    }
    release?.();
  }

  /** Nobody wants any more of it. */
  stop(cause: string): void {
    if (this.#isOver) return;
    this.#subscription?.stop();
    this.#over(cause);
  }

  /** Tells all that has come so far, then that the server goes down. */
  finish(done: () => void): void {
    if (!this.#subscription || this.#isOver) {
      done();
      return;
    }
    this.#subscription.finish(() => {
      const { format } = this.#options;
      // A client of server-sent events comes again by itself when there was no end.
      if (format.tellsShutdown) this.end({ cause: 'shutdown', errors: GOING_DOWN });
      else this.stop('shutdown');
      done();
    });
  }

  #over(cause: string): void {
    this.#isOver = true;
    this.#options.onEnd(cause);
  }
}
