/** An HTTP response that stays open: its head, its heartbeats, its queue, its end. */
import type { ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';
import { releaseSlot } from '@trestle/service/admission/admission-handler';
import type { TransportMetrics } from '../../observability/subscription-metrics.ts';
import type { PartsEncoder } from './parts-encoder.ts';
import type { ReportedHeaders } from '../../request/fetch-log.ts';
import type { SendBuffers } from './send-buffers.ts';
import { type Envelope, type QueueLimits, SendQueue } from './send-queue.ts';
import type { StreamFormat } from './stream-format.ts';

export interface StreamedResponseOptions {
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly format: StreamFormat;
  readonly limits: QueueLimits;
  readonly buffers: SendBuffers;
  readonly metrics: TransportMetrics;
  /** A queue from before the response; its messages are sent first. Default: a new one. */
  readonly queue?: SendQueue | undefined;
  /** Headers that are known when the response opens. Default: none. */
  readonly headers?: ReportedHeaders | undefined;
  /** For a response that may be compressed: creates what compresses it, or returns undefined. Called once. */
  readonly openEncoder?: (() => PartsEncoder | undefined) | undefined;
  /** Called once, with the cause: `stopped` when the client disconnected, `slow-consumer`, or that of {@link StreamedResponse.end}. */
  readonly onClosed: (cause: string) => void;
}

/** Returns the bytes of one message. */
export function pack({ head, tail }: Envelope, body: Buffer): Buffer {
  return Buffer.concat([head, body, tail]);
}

export class StreamedResponse {
  readonly #options: StreamedResponseOptions;
  readonly queue: SendQueue;
  readonly #heartbeat: NodeJS.Timeout;
  /** Where messages are written: the response, or what compresses them for it. */
  readonly #sink: Writable;
  #isClosed = false;

  /** Sends the head. */
  constructor(options: StreamedResponseOptions) {
    this.#options = options;
    const { response, requestId, format, headers, queue, openEncoder } = options;
    const encoder = openEncoder?.();
    releaseSlot(response);
    response.writeHead(200, {
      ...headers,
      'content-type': format.contentType,
      'cache-control': 'no-store',
      'x-request-id': requestId,
      ...(encoder && { 'content-encoding': encoder.encoding }),
      vary: openEncoder ? 'Accept, Accept-Encoding, Authorization, X-API-Key' : 'Accept, Authorization, X-API-Key',
      // nginx would buffer the events.
      'x-accel-buffering': 'no',
    });
    response.once('close', () => {
      this.#close('stopped');
    });
    // A write to a client that has disconnected is no error.
    response.on('error', () => undefined);
    this.#sink = encoder ? pipeInto(response, encoder) : response;
    this.queue = queue ?? this.#createQueue();
    if (queue) queue.attach(this.#sink);
    this.#heartbeat = setInterval(() => {
      this.queue.sendDroppable(format.heartbeat);
    }, format.heartbeatMs);
    this.queue.send(format.opening);
  }

  /** Ends the response after every queued message. */
  end(cause: string): void {
    if (this.#isClosed) return;
    this.#close(cause);
    this.queue.whenEmpty(() => {
      this.queue.close();
      this.#sink.end();
    });
  }

  /** Destroys the connection of a client that does not read. */
  disconnect(): void {
    this.#close('slow-consumer');
    this.#options.response.destroy();
  }

  #createQueue(): SendQueue {
    const { limits, buffers, metrics } = this.#options;
    const disconnect = () => {
      this.disconnect();
    };
    return new SendQueue({
      stream: this.#sink,
      limits,
      buffers,
      pack,
      onDropped: metrics.eventDropped,
      onOverflow: disconnect,
      onStalled: disconnect,
    });
  }

  #close(cause: string): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearInterval(this.#heartbeat);
    this.#options.onClosed(cause);
  }
}

/** Sends what the encoder writes. Ends with the response, also when the client disconnects. */
function pipeInto(response: ServerResponse, { stream }: PartsEncoder): Writable {
  response.once('close', () => stream.destroy());
  stream.once('error', () => response.destroy());
  stream.pipe(response);
  return stream;
}
