/** The HTTP responses of this process that stay open. */
import type { ServerResponse } from 'node:http';
import type { TokenVerifier } from '@trestle/identity/verification/token-verifier';
import { fail } from '@trestle/schema/errors';
import type { RequestRecord } from '../../observability/request-record.ts';
import type { TransportMetrics } from '../../observability/subscription-metrics.ts';
import type { RequestContext } from '../../request/context.ts';
import type { ReportedHeaders } from '../../request/fetch-log.ts';
import type { PartsEncoder } from './parts-encoder.ts';
import type { SendBuffers } from './send-buffers.ts';
import type { QueueLimits, SendQueue } from './send-queue.ts';
import type { StreamFormat } from './stream-format.ts';
import { StreamedOperation } from './streamed-operation.ts';
import { StreamedResponse } from './streamed-response.ts';
import { SubscriptionWatch } from './subscription-watch.ts';

export interface StreamedResponsesOptions {
  readonly verifier: TokenVerifier | undefined;
  readonly limits: QueueLimits;
  readonly buffers: SendBuffers;
  /** The most open responses. */
  readonly maxStreams: number;
  readonly metrics: TransportMetrics;
}

/** The exchange of a response that stays open. */
export interface StreamedExchange {
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly record: RequestRecord;
}

/** What is known of the request of an operation. */
export type StreamContext = Pick<RequestContext, 'caller' | 'requestId' | 'cancellation'>;

/** How the results of one operation are sent. */
interface OperationOptions {
  readonly format: StreamFormat;
  readonly context: StreamContext & Pick<RequestContext, 'fetchLog'>;
  /** For results that may be compressed. */
  readonly openEncoder?: (() => PartsEncoder | undefined) | undefined;
}

interface OpenOptions extends Pick<OperationOptions, 'format' | 'openEncoder'> {
  /** Returns the operations whose results the response has. */
  readonly operations: () => Iterable<StreamedOperation>;
  readonly headers?: ReportedHeaders;
  readonly queue?: SendQueue;
}

interface OpenResponse {
  readonly stream: StreamedResponse;
  readonly operations: () => Iterable<StreamedOperation>;
}

export class StreamedResponses {
  readonly #options: StreamedResponsesOptions;
  readonly #open = new Set<OpenResponse>();
  #isDraining = false;

  constructor(options: StreamedResponsesOptions) {
    this.#options = options;
  }

  /** Whether {@link requireRoom} would not throw. */
  get hasRoom(): boolean {
    return !this.#isDraining && this.#open.size < this.#options.maxStreams;
  }

  /** Throws SERVICE_UNAVAILABLE while the process shuts down, and when `count`, by default that of open responses, has reached the limit. */
  requireRoom(count = this.#open.size): void {
    if (this.#isDraining) throw fail('SERVICE_UNAVAILABLE', 'The server is shutting down.');
    if (count < this.#options.maxStreams) return;
    throw fail('SERVICE_UNAVAILABLE', 'The server has reached its limit of event streams. Retry later.', { retryAfterSeconds: 1 });
  }

  /**
   * Creates an operation with a response of its own, which opens with the first message. Does not check the room, because the operation may have been
   * executed: call {@link requireRoom} or {@link hasRoom} before the execution.
   */
  createOperation(exchange: StreamedExchange, { format, context, openEncoder }: OperationOptions): StreamedOperation {
    const { response, record } = exchange;
    const { caller, fetchLog } = context;
    const watch = new SubscriptionWatch({ ...this.#options, transport: format.transport, caller });
    let stream: StreamedResponse | undefined;
    const operation: StreamedOperation = new StreamedOperation({
      context,
      format,
      // The response opens with the first message: the headers of the fetches before it are known.
      open: () => {
        const open = () => this.open(exchange, { format, openEncoder, headers: fetchLog.toHeaders(caller), operations: () => [operation] });
        return (stream ??= open()).queue;
      },
      requireRoom: () => {
        this.requireRoom();
      },
      isAuthorized: watch.isAuthorized,
      onBegin: ({ operationName }) => {
        watch.begin(operation);
        record.setOperation(operationName, 'subscription');
        record.measure(response.statusCode);
      },
      onEnd: (cause) => {
        watch.end(cause);
        stream?.end(cause);
      },
    });
    const stop = () => {
      operation.stop('stopped');
    };
    // The client may disconnect before the first message, and may have disconnected while its body was decompressed.
    if (response.destroyed) stop();
    else response.once('close', stop);
    return operation;
  }

  /** Opens a response. */
  open(
    { response, requestId, record }: StreamedExchange,
    { format, openEncoder, operations, headers, queue }: OpenOptions,
  ): StreamedResponse {
    const { limits, buffers, metrics } = this.#options;
    const onClosed = (cause: string) => {
      this.#open.delete(entry);
      for (const operation of [...operations()]) operation.stop(cause);
      record.end(response.statusCode);
    };
    const stream = new StreamedResponse({ response, requestId, format, headers, openEncoder, limits, buffers, metrics, queue, onClosed });
    const entry: OpenResponse = { stream, operations };
    this.#open.add(entry);
    // The operation was accepted before the shutdown began.
    if (this.#isDraining) void finish(entry, 0);
    return stream;
  }

  /** Accepts no more responses, sends each client the events received so far, and ends the responses at random times within `overMs`. */
  async drain(overMs: number): Promise<void> {
    this.#isDraining = true;
    await Promise.all([...this.#open].map((response) => finish(response, Math.random() * overMs)));
  }
}

async function finish({ stream, operations }: OpenResponse, delayMs: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, delayMs));
  const finishing = Array.from(operations(), (operation) => {
    return new Promise<void>((resolve) => {
      operation.finish(resolve);
    });
  });
  await Promise.all(finishing);
  stream.end('shutdown');
}
