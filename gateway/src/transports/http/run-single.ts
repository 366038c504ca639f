/** Runs the operation of a request, and sends its result in the way that the client accepts and the operation needs. */
import type { OperationResult } from '../../request/operation.ts';
import type { StreamFormat } from '../delivery/stream-format.ts';
import type { StreamedOperation } from '../delivery/streamed-operation.ts';
import { type AdmittedRequest, type HttpOperation, abandon, runOperation } from './admitted-request.ts';
import { isCurrent, toEntityTag } from './entity-tag.ts';
import { type IncrementalChoice, type MediaType, chooseIncrementalFormat, chooseStreamFormat } from './negotiation.ts';
import { toHead } from './result-head.ts';

/** What the client accepts, for any result. */
interface Accepted {
  readonly mediaType: MediaType | undefined;
  /** How it takes events; undefined when it accepts no stream. */
  readonly stream: { readonly format: StreamFormat; readonly isPreferred: boolean } | undefined;
  /** Gets events and, of a client that prefers them, results. Undefined without a stream, and for HEAD, whose response ends with its head. */
  readonly subscriber: StreamedOperation | undefined;
  /** How it takes deferred parts; undefined when it does not, and while the process has no room for another open response. */
  readonly parts: IncrementalChoice | undefined;
}

/** How one result is sent. */
type Delivery =
  | { readonly kind: 'parts'; readonly format: StreamFormat }
  | { readonly kind: 'stream'; readonly subscriber: StreamedOperation }
  | { readonly kind: 'body'; readonly status: number; readonly contentType: Pick<MediaType, 'contentType'> | undefined };

/** Runs one operation and sends its result. Throws SERVICE_UNAVAILABLE before, when there is no room for a stream, and what the pipeline throws. */
export function runSingle(admitted: AdmittedRequest, { parameters, upload }: Pick<HttpOperation, 'parameters' | 'upload'>): void {
  const { exchange, context, options } = admitted;
  const { request, response } = exchange;
  const accepted = readAccepted(admitted);
  const { subscriber, parts } = accepted;
  runOperation(admitted, { parameters, upload, subscriber, incremental: parts?.spec }, (result) => {
    exchange.guard(() => {
      exchange.record.setOperation(result.operationName, result.operationKind);
      // What is opened for a client that has disconnected would never be closed.
      if (response.destroyed) {
        result.release?.();
        // Its fetches are cancelled: the parts end at once, and are counted.
        result.rest?.(() => undefined);
        abandon(exchange);
        return;
      }
      const delivery = chooseDelivery(accepted, result);
      switch (delivery.kind) {
        case 'parts': {
          const openEncoder = () => exchange.compression.openParts(request.headers['accept-encoding']);
          options.responses.createOperation(exchange, { format: delivery.format, context, openEncoder }).sendResult(result);
          return;
        }
        case 'stream':
          delivery.subscriber.sendResult(result);
          return;
        case 'body':
          sendBody(admitted, delivery, result);
      }
    });
  });
}

/** Sends a result, or 304 when the client has it already. */
function sendBody(admitted: AdmittedRequest, { status, contentType }: Extract<Delivery, { kind: 'body' }>, result: OperationResult): void {
  const { exchange } = admitted;
  const head = toHead(admitted, contentType, result);
  const etag = toEntityTag(exchange.request, head, result);
  if (etag === undefined) exchange.sendResult(status, head, result);
  else if (isCurrent(exchange.request, etag)) {
    result.release?.();
    exchange.sendNotModified({ ...head, etag });
  } else exchange.sendResult(status, { ...head, etag }, result);
}

/**
 * Where any result is sent as a stream, room for open responses is required before the operation is executed: a mutation that was executed must not
 * fail for it. A client that prefers JSON needs the room for a subscription only.
 */
function readAccepted({ exchange, mediaType, context, options: { responses } }: AdmittedRequest): Accepted {
  const { method, headers } = exchange.request;
  const isHead = method === 'HEAD';
  const stream = chooseStreamFormat(headers.accept);
  if (stream && !isHead && (stream.isPreferred || !mediaType)) responses.requireRoom();
  return {
    mediaType,
    stream,
    subscriber: stream && !isHead ? responses.createOperation(exchange, { format: stream.format, context }) : undefined,
    parts: isHead || !responses.hasRoom ? undefined : chooseIncrementalFormat(headers.accept),
  };
}

function chooseDelivery({ mediaType, stream, subscriber, parts }: Accepted, result: OperationResult): Delivery {
  const { operationKind, rest, status, outcome } = result;
  const isStreamed = stream !== undefined && (stream.isPreferred || !mediaType);
  // Of `multipart/mixed` the format of subscriptions is for subscriptions.
  const isPart = isStreamed ? operationKind === 'query' || operationKind === 'mutation' : !stream && !mediaType;
  if (parts && (rest || isPart)) return { kind: 'parts', format: parts.format };
  if (subscriber && isStreamed) return { kind: 'stream', subscriber };
  if (isStreamed) return { kind: 'body', status: 200, contentType: stream.format };
  return { kind: 'body', status: status ?? mediaType?.statusOf(outcome) ?? 200, contentType: mediaType };
}
