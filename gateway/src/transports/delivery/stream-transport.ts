/** Subscriptions over HTTP responses that stay open: one operation each, or several in a connection that was reserved (graphql-sse; Apollo's multipart). */
import { randomUUID } from 'node:crypto';
import type { Caller } from '@trestle/identity';
import type { TokenVerifier } from '@trestle/identity/tokens';
import { fail } from '@trestle/schema/errors';
import type { Visit, VisitBook } from '../http/visit.ts';
import { toOperationLabel } from '../../observability/operation-label.ts';
import type { LiveMetrics, Transport } from '../../observability/subscription-metrics.ts';
import { Mailbox, type MailboxLimits } from './send-queue.ts';
import { ResponseStream, type ResponseStreamOptions, pack } from './streamed-response.ts';
import type { SendBuffers } from './send-buffers.ts';
import { SERVER_SENT_EVENTS, type StreamFormat, toNamedFormat } from './stream-format.ts';
import { StreamedOperation } from './streamed-operation.ts';

export interface StreamDoorOptions {
  readonly verifier: TokenVerifier | undefined;
  readonly queue: MailboxLimits;
  readonly buffers: SendBuffers;
  /** The most operations of one connection, and connections that are open, or reserved, at a time. */
  readonly maxOperations: number;
  readonly maxStreams: number;
  readonly metrics: LiveMetrics;
  readonly book: VisitBook;
}

export interface StreamDoor {
  /** An operation with a response of its own. Throws SERVICE_UNAVAILABLE. */
  listen(visit: Visit, format: StreamFormat): StreamedOperation;
  /** Gives the token of a connection for several operations of this caller. Throws SERVICE_UNAVAILABLE. */
  reserve(caller: Caller | null): string;
  /** Opens the connection that was reserved. Throws NOT_FOUND, CONFLICT when it is open, SERVICE_UNAVAILABLE. */
  connect(token: string, visit: Visit): void;
  /** An operation whose results go into that connection. Throws NOT_FOUND, CONFLICT for an id that is in use, RATE_LIMIT_EXCEEDED. */
  join(token: string, asked: { readonly id: string; readonly caller: Caller | null; readonly onTaken: () => void }): StreamedOperation;
  /** Ends one. Throws NOT_FOUND. */
  leave(token: string, asked: { readonly id: string; readonly caller: Caller | null }): void;
  /** Tells every client all that has come for it, and ends its stream, one after the other over the given time. */
  drain(overMs: number): Promise<void>;
}

/** A connection that was reserved is to be opened within this time. */
const RESERVED_MS = 30_000;

interface Reservation {
  readonly userId: string | undefined;
  readonly operations: Map<string, StreamedOperation>;
  readonly timer: NodeJS.Timeout;
  /** Operations may begin before the connection is open. */
  readonly mailbox: Mailbox;
  stream: ResponseStream | undefined;
}

interface OpenStream {
  readonly stream: ResponseStream;
  readonly operations: () => Iterable<StreamedOperation>;
}

export function createStreamDoor(options: StreamDoorOptions): StreamDoor {
  const { verifier, queue, buffers, maxOperations, maxStreams, metrics, book } = options;
  const streams = new Set<OpenStream>();
  const reservations = new Map<string, Reservation>();
  let isDraining = false;

  const admitsOf = (caller: Caller | null) => () => caller === null || verifier === undefined || verifier.isValid(caller);
  const find = (token: string, caller: Caller | null): Reservation => {
    const found = reservations.get(token);
    // Whose it is not does not learn that it is there.
    if (found?.userId !== caller?.userId || !found) throw fail('NOT_FOUND', 'There is no such event stream');
    return found;
  };
  const open = (
    visit: Visit,
    { format, operations, mailbox }: Pick<OpenStream, 'operations'> & Pick<ResponseStreamOptions, 'format' | 'mailbox'>,
  ): ResponseStream => {
    const { response, requestId } = visit;
    const stream = new ResponseStream({
      response,
      requestId,
      format,
      queue,
      buffers,
      metrics,
      mailbox,
      onClosed: (cause) => {
        streams.delete(entry);
        for (const operation of [...operations()]) operation.stop(cause);
        book.finish(visit);
      },
    });
    const entry: OpenStream = { stream, operations };
    streams.add(entry);
    return stream;
  };
  const release = (token: string, cause: string) => {
    const reservation = reservations.get(token);
    if (!reservations.delete(token) || !reservation) return;
    clearTimeout(reservation.timer);
    for (const operation of [...reservation.operations.values()]) operation.stop(cause);
    reservation.mailbox.close();
    buffers.leave(reservation.mailbox);
    reservation.stream?.cut();
  };
  /** Counts a subscription in and out, and ends it with its caller's credential; queries are no subscriptions. */
  const createWatch = (transport: Transport, caller: Caller | null) => {
    let ignoreCaller: (() => void) | undefined;
    let isSubscription = false;
    return {
      begin: (operation: StreamedOperation) => {
        isSubscription = true;
        metrics.began(transport);
        if (caller)
          ignoreCaller = verifier?.watch(caller, () => {
            operation.forbid();
          });
      },
      end: (cause: string) => {
        ignoreCaller?.();
        if (isSubscription) metrics.ended(transport, cause);
      },
    };
  };

  return {
    listen(visit, format) {
      if (isDraining) throw fail('SERVICE_UNAVAILABLE', 'The server is going down');
      if (streams.size >= maxStreams) throw tooMany();
      let stream: ResponseStream | undefined;
      const caller = visit.context?.caller ?? null;
      const watch = createWatch(format.transport, caller);
      const operation: StreamedOperation = new StreamedOperation({
        format,
        open: () => (stream ??= open(visit, { format, operations: () => [operation] })).mailbox,
        admits: admitsOf(caller),
        onBegin: ({ operationName }) => {
          watch.begin(operation);
          visit.operation = toOperationLabel(operationName);
          visit.kind = 'subscription';
          book.count(visit);
        },
        onEnd: (cause) => {
          watch.end(cause);
          stream?.end(cause);
        },
      });
      // A client may go before there is anything to tell it.
      visit.response.once('close', () => {
        operation.stop('stopped');
      });
      return operation;
    },
    reserve(caller) {
      if (isDraining) throw fail('SERVICE_UNAVAILABLE', 'The server is going down');
      if (reservations.size >= maxStreams) throw tooMany();
      const token = randomUUID();
      const giveUp = () => {
        release(token, 'slow-consumer');
      };
      const reservation: Reservation = {
        userId: caller?.userId,
        operations: new Map(),
        mailbox: new Mailbox({ limits: queue, buffers, pack, onDropped: metrics.dropped, onOverflow: giveUp, onStuck: giveUp }),
        timer: setTimeout(() => {
          release(token, 'stopped');
        }, RESERVED_MS).unref(),
        stream: undefined,
      };
      reservations.set(token, reservation);
      return token;
    },
    connect(token, visit) {
      const reservation = reservations.get(token);
      const caller = visit.context?.caller;
      // The token is the ticket: a browser's EventSource can send nothing else. A credential that is sent must fit all the same.
      if (!reservation || (caller && caller.userId !== reservation.userId)) throw fail('NOT_FOUND', 'There is no such event stream');
      if (reservation.stream) throw fail('CONFLICT', 'The event stream is open already');
      if (streams.size >= maxStreams) throw tooMany();
      clearTimeout(reservation.timer);
      reservation.stream = open(visit, {
        format: SERVER_SENT_EVENTS,
        operations: () => reservation.operations.values(),
        mailbox: reservation.mailbox,
      });
      book.count(visit);
      visit.response.once('close', () => {
        release(token, 'stopped');
      });
    },
    join(token, { id, caller, onTaken }) {
      const { mailbox, operations } = find(token, caller);
      if (operations.has(id)) throw fail('CONFLICT', 'The stream has an operation of this operationId');
      if (operations.size >= maxOperations)
        throw fail('RATE_LIMIT_EXCEEDED', `A stream takes ${String(maxOperations)} operations at a time`);
      const watch = createWatch('sse', caller);
      const operation: StreamedOperation = new StreamedOperation({
        format: toNamedFormat(id),
        open: () => mailbox,
        admits: admitsOf(caller),
        onBegin: () => {
          watch.begin(operation);
          onTaken();
        },
        onEnd: (cause) => {
          watch.end(cause);
          operations.delete(id);
        },
      });
      operations.set(id, operation);
      return operation;
    },
    leave(token, { id, caller }) {
      const operation = find(token, caller).operations.get(id);
      if (!operation) throw fail('NOT_FOUND', 'The stream has no such operation');
      operation.stop('stopped');
    },
    async drain(overMs) {
      isDraining = true;
      for (const { timer } of reservations.values()) clearTimeout(timer);
      const leave = async ({ stream, operations }: OpenStream) => {
        await new Promise((resolve) => setTimeout(resolve, Math.random() * overMs));
        await Promise.all(
          [...operations()].map(
            (operation) =>
              new Promise<void>((resolve) => {
                operation.finish(resolve);
              }),
          ),
        );
        stream.end('shutdown');
      };
      await Promise.all([...streams].map(leave));
    },
  };
}

function tooMany(): Error {
  return fail('SERVICE_UNAVAILABLE', 'There are too many event streams', { retryAfterSeconds: 1 });
}
