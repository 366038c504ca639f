/**
 * Event streams for several operations: graphql-sse, "Single connection mode". A client reserves a stream, opens it, and adds operations to it by
 * separate requests; a token identifies the stream.
 */
import { randomUUID } from 'node:crypto';
import type { Caller } from '@trestle/identity';
import type { TokenVerifier } from '@trestle/identity/verification/token-verifier';
import { toLimitFault } from '@trestle/schema/limit-fault';
import { fail } from '@trestle/schema/errors';
import type { TransportMetrics } from '../../observability/subscription-metrics.ts';
import type { SendBuffers } from '../delivery/send-buffers.ts';
import { type QueueLimits, SendQueue } from '../delivery/send-queue.ts';
import { STOP_CAUSES } from '../delivery/stop-causes.ts';
import { StreamedOperation } from '../delivery/streamed-operation.ts';
import { type StreamedResponse, pack } from '../delivery/streamed-response.ts';
import type { StreamContext, StreamedExchange, StreamedResponses } from '../delivery/streamed-responses.ts';
import { SubscriptionWatch } from '../delivery/subscription-watch.ts';
import { SERVER_SENT_EVENTS, toNamedFormat } from './sse-format.ts';

export interface ReservedStreamsOptions {
  readonly responses: StreamedResponses;
  readonly verifier: TokenVerifier | undefined;
  readonly limits: QueueLimits;
  readonly buffers: SendBuffers;
  /** The most operations of one stream. */
  readonly maxOperations: number;
  /** The most bytes of the requests that its open operations began with. */
  readonly maxOperationBytes: number;
  readonly metrics: TransportMetrics;
}

/** A reserved stream is released when it is not opened within this time. */
const RESERVATION_MS = 30_000;

interface Reservation {
  readonly userId: string | undefined;
  readonly operations: Map<string, StreamedOperation>;
  readonly timer: NodeJS.Timeout;
  /** Operations may begin before the stream is open. */
  readonly queue: SendQueue;
  /** Bytes of the requests that open operations began with: they are kept as long. */
  heldBytes: number;
  stream: StreamedResponse | undefined;
}

interface AddedOperation {
  readonly id: string;
  /** About how many bytes its request had. */
  readonly bytes: number;
  readonly context: StreamContext;
  /**
   * Called once: when its subscription begins, or when it ends before that and was not refused. `isStopped` says that it was ended without a result,
   * and that the work for it goes on.
   */
  readonly onAccepted: (isStopped: boolean) => void;
}

export class ReservedStreams {
  readonly #options: ReservedStreamsOptions;
  readonly #reservations = new Map<string, Reservation>();

  constructor(options: ReservedStreamsOptions) {
    this.#options = options;
  }

  /** Returns the token of a new stream for operations of this caller. Throws SERVICE_UNAVAILABLE. */
  reserve(caller: Caller | null): string {
    const { responses, limits, buffers, metrics } = this.#options;
    responses.requireRoom(this.#reservations.size);
    const token = randomUUID();
    const disconnect = () => {
      this.#release(token, 'slow-consumer');
    };
    const queueOptions = { limits, buffers, pack, onDropped: metrics.eventDropped, onOverflow: disconnect, onStalled: disconnect };
    this.#reservations.set(token, {
      userId: caller?.userId,
      operations: new Map(),
      queue: new SendQueue(queueOptions),
      timer: setTimeout(() => {
        this.#release(token, 'stopped');
      }, RESERVATION_MS).unref(),
      heldBytes: 0,
      stream: undefined,
    });
    return token;
  }

  /** Opens a reserved stream. Throws NOT_FOUND, CONFLICT when it is open, SERVICE_UNAVAILABLE. */
  open(token: string, exchange: StreamedExchange, caller: Caller | null): void {
    const { responses } = this.#options;
    const reservation = this.#reservations.get(token);
    // A browser's EventSource cannot send a credential, so the token is sufficient. A credential that is sent must match.
    if (!reservation || (caller && caller.userId !== reservation.userId)) throw streamNotFound();
    if (reservation.stream) throw fail('CONFLICT', 'The event stream is already open.');
    responses.requireRoom();
    clearTimeout(reservation.timer);
    const { queue } = reservation;
    const stream = responses.open(exchange, { format: SERVER_SENT_EVENTS, operations: () => reservation.operations.values(), queue });
    // What waited may have been too much for this process: then the queue is closed already.
    if (!this.#reservations.has(token)) {
      stream.disconnect();
      return;
    }
    reservation.stream = stream;
    exchange.record.measure(exchange.response.statusCode);
    exchange.response.once('close', () => {
      this.#release(token, 'stopped');
    });
  }

  /**
   * Adds an operation to a stream. Throws NOT_FOUND, CONFLICT for an id in use,
   * RATE_LIMIT_EXCEEDED for too many operations, or too large ones.
   */
  addOperation(token: string, { id, bytes, context, onAccepted }: AddedOperation): StreamedOperation {
    const reservation = this.#find(token, context.caller);
    const { queue, operations } = reservation;
    if (operations.has(id)) throw fail('CONFLICT', 'Another operation of the event stream has this `operationId`.');
    this.#requireRoom(reservation, bytes);
    const watch = new SubscriptionWatch({ ...this.#options, transport: 'sse', caller: context.caller });
    let hasBegun = false;
    const operation: StreamedOperation = new StreamedOperation({
      context,
      format: toNamedFormat(id),
      open: () => queue,
      isAuthorized: watch.isAuthorized,
      onBegin: () => {
        hasBegun = true;
        watch.begin(operation);
        onAccepted(false);
      },
      onEnd: (cause) => {
        watch.end(cause);
        operations.delete(id);
        reservation.heldBytes -= bytes;
        if (!hasBegun && cause !== 'refused') onAccepted(STOP_CAUSES.has(cause));
      },
    });
    operations.set(id, operation);
    reservation.heldBytes += bytes;
    return operation;
  }

  /** Throws RATE_LIMIT_EXCEEDED when the stream has no room for another operation of this size. */
  #requireRoom({ operations, heldBytes }: Reservation, bytes: number): void {
    const { maxOperations, maxOperationBytes } = this.#options;
    if (operations.size >= maxOperations)
      throw toLimitFault(`The event stream has reached its limit of ${String(maxOperations)} operations.`, { limit: maxOperations });
    if (heldBytes + bytes > maxOperationBytes)
      throw toLimitFault(`The open operations of the event stream exceed the limit of ${String(maxOperationBytes)} bytes.`, {
        limit: maxOperationBytes,
      });
  }

  /** Ends an operation of a stream. Throws NOT_FOUND. */
  stopOperation(token: string, { id, caller }: { id: string; caller: Caller | null }): void {
    const operation = this.#find(token, caller).operations.get(id);
    if (!operation) throw fail('NOT_FOUND', 'No operation of the event stream has this `operationId`.');
    operation.stop('stopped');
  }

  /** Cancels the timers of streams that are not open. */
  stop(): void {
    for (const { timer } of this.#reservations.values()) clearTimeout(timer);
  }

  #find(token: string, caller: Caller | null): Reservation {
    const found = this.#reservations.get(token);
    // NOT_FOUND for other callers too, so that they cannot learn whether the stream exists.
    if (!found || found.userId !== caller?.userId) throw streamNotFound();
    return found;
  }

  #release(token: string, cause: string): void {
    const reservation = this.#reservations.get(token);
    if (!reservation) return;
    this.#reservations.delete(token);
    clearTimeout(reservation.timer);
    for (const operation of [...reservation.operations.values()]) operation.stop(cause);
    reservation.queue.close();
    this.#options.buffers.remove(reservation.queue);
    reservation.stream?.disconnect();
  }
}

function streamNotFound(): Error {
  return fail('NOT_FOUND', 'The event stream does not exist.');
}
