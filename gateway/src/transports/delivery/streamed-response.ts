/** An HTTP response that stays open: its head, its heartbeats, its mailbox, its end. */
import type { ServerResponse } from 'node:http';
import { releaseSlot } from '@trestle/service/entrance';
import type { LiveMetrics } from '../../observability/subscription-metrics.ts';
import { type Envelope, Mailbox, type MailboxLimits } from './send-queue.ts';
import type { SendBuffers } from './send-buffers.ts';
import type { StreamFormat } from './stream-format.ts';

export interface ResponseStreamOptions {
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly format: StreamFormat;
  readonly queue: MailboxLimits;
  readonly buffers: SendBuffers;
  readonly metrics: LiveMetrics;
  /** What was posted to before there was a response: it goes on into this one. */
  readonly mailbox?: Mailbox | undefined;
  /** Called once, with why: the client has gone, was too slow, or everything is told. */
  readonly onClosed: (cause: string) => void;
}

const NOTHING = Buffer.alloc(0);

export function pack({ head, tail }: Envelope, body: Buffer): Buffer {
  return Buffer.concat([head, body, tail]);
}

export class ResponseStream {
  readonly #options: ResponseStreamOptions;
  readonly mailbox: Mailbox;
  readonly #heart: NodeJS.Timeout;
  #isClosed = false;

  /** Sends the head. */
  constructor(options: ResponseStreamOptions) {
    this.#options = options;
    const { response, requestId, format, mailbox } = options;
    releaseSlot(response);
    response.writeHead(200, {
      'content-type': format.contentType,
      'cache-control': 'no-store',
      'x-request-id': requestId,
      'x-content-type-options': 'nosniff',
      vary: 'Accept, Authorization',
      // Proxies that gather an answer before they hand it on would hold events back.
      'x-accel-buffering': 'no',
    });
    response.once('close', () => {
      this.#close('stopped');
    });
    // Of a client that has gone nobody needs to be told.
    response.on('error', () => undefined);
    this.mailbox = mailbox ?? this.#createMailbox();
    if (mailbox) mailbox.attach(response);
    this.#heart = setInterval(() => {
      this.mailbox.postEvent(format.heartbeat, NOTHING);
    }, format.heartbeatMs);
    this.mailbox.post(format.opening);
  }

  /** Ends the response once all that was posted is sent. */
  end(cause: string): void {
    if (this.#isClosed) return;
    this.#close(cause);
    this.mailbox.whenEmpty(() => {
      this.mailbox.close();
      this.#options.response.end();
    });
  }

  #createMailbox(): Mailbox {
    const { response, queue, buffers, metrics } = this.#options;
    return new Mailbox({
      stream: response,
      limits: queue,
      buffers,
      pack,
      onDropped: metrics.dropped,
      onOverflow: () => {
        this.cut();
      },
      onStuck: () => {
        this.cut();
      },
    });
  }

  /** The client does not read: its connection ends here and now. */
  cut(): void {
    this.#close('slow-consumer');
    this.#options.response.destroy();
  }

  #close(cause: string): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearInterval(this.#heart);
    this.#options.onClosed(cause);
  }
}
