/** An HTTP response that stays open: its head, its heartbeats, its mailbox, its end. */
import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { LiveMetrics } from './live-metrics.ts';
import { type Envelope, Mailbox, type MailboxLimits } from './mailbox.ts';
import type { StreamFormat } from './stream-format.ts';

export interface ResponseStreamOptions {
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly format: StreamFormat;
  readonly queue: MailboxLimits;
  readonly metrics: LiveMetrics;
  /** What was posted to before there was a response: it goes on into this one. */
  readonly before?: { readonly mailbox: Mailbox; readonly outlet: Duplex } | undefined;
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
    const { response, requestId, format, before } = options;
    response.writeHead(200, {
      'content-type': format.contentType,
      'cache-control': 'no-store',
      'x-request-id': requestId,
      'x-content-type-options': 'nosniff',
      vary: 'Accept, Authorization',
      // Proxies that gather an answer before they hand it on would hold events back.
      'x-accel-buffering': 'no',
    });
    this.mailbox = before?.mailbox ?? this.#createMailbox();
    before?.outlet.pipe(response);
    response.once('close', () => {
      this.#close('stopped');
    });
    this.#heart = setInterval(() => {
      this.mailbox.postEvent(format.heartbeat, NOTHING);
    }, format.heartbeatMs);
    this.mailbox.post(format.opening);
  }

  /** Ends the response once all that was posted is sent; a client that does not read is left to the end of its connection. */
  end(cause: string): void {
    if (this.#isClosed) return;
    this.#close(cause);
    this.mailbox.whenEmpty(() => {
      const { before, response } = this.#options;
      this.mailbox.close();
      // What it hands on ends with it.
      if (before) before.outlet.end();
      else response.end();
    });
  }

  #createMailbox(): Mailbox {
    const { response, queue, metrics } = this.#options;
    return new Mailbox({
      stream: response,
      limits: queue,
      pack,
      onDropped: metrics.dropped,
      onOverflow: () => {
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
