/** An admitted HTTP request: its caller is known, and its operations go on to the pipeline. */
import type { IncomingMessage } from 'node:http';
import { type Caller, hasRole } from '@trestle/identity';
import { fail } from '@trestle/schema/errors';
import type { Hooks } from '../../extensions/compile-hooks.ts';
import { type Admission, type AdmitOptions, admit } from '../../request/admission.ts';
import { type IdentifyOptions, readClientApplication } from '../../request/caller.ts';
import type { MutationHeaderOptions } from '../../request/mutation-headers.ts';
import type { ClientApplication, IncrementalFormat, OperationResult, Reports, RunOperation } from '../../request/operation.ts';
import type { Parameters } from '../../request/parameters.ts';
import { readResume } from '../../request/position.ts';
import type { Subscriber } from '../../request/subscriber.ts';
import type { Upload } from '../../request/upload.ts';
import type { StreamedResponses } from '../delivery/streamed-responses.ts';
import type { ReservedStreams } from '../sse/reserved-streams.ts';
import type { ExchangeOptions, HttpExchange, ServedPath } from './exchange.ts';
import { type MediaType, chooseIncrementalFormat, chooseMediaType, chooseStreamFormat } from './negotiation.ts';

/** nginx's status for a client that disconnected before the response; in logs and metrics only. */
const CLIENT_CLOSED_REQUEST = 499;

export interface HttpTransportOptions extends ExchangeOptions, IdentifyOptions, MutationHeaderOptions {
  readonly run: RunOperation;
  /** The path of GraphQL requests as clients send it, with that of the graph. */
  readonly publicPath: string;
  /** The most operations of one request; 1 disables batches. */
  readonly maxBatch: number;
  /** The most bytes of a body without files, as it is sent and decompressed. */
  readonly maxBodyBytes: number;
  /** The most bytes of the files of one request. */
  readonly maxUploadBytes: number;
  readonly hasGraphiql: boolean;
  readonly hooks: Pick<Hooks, 'areUsed' | 'onRequest' | 'onContext'>;
  readonly responses: StreamedResponses;
  readonly reserved: ReservedStreams;
  /** What is served besides GraphQL requests. */
  readonly endpoints: readonly Endpoint[];
}

/** Serves another path than that of GraphQL requests, to requests that are counted and whose caller is known. */
export interface Endpoint extends ServedPath {
  /** Throws, and responds with, the faults of a request. */
  readonly handle: (exchange: HttpExchange, arrived: ArrivedRequest, options: HttpTransportOptions) => void;
}

/** A request that the rate limit has counted. */
export type ArrivedRequest = Pick<AdmitOptions, 'identification' | 'quota' | 'extended'>;

/** A request whose caller is known. */
export interface AdmittedRequest extends Admission {
  readonly exchange: HttpExchange;
  /** Undefined when the client accepts streams only. */
  readonly mediaType: MediaType | undefined;
  readonly options: HttpTransportOptions;
}

const ACCEPTABLE =
  'No acceptable media type. Accept application/graphql-response+json or application/json, and text/event-stream or ' +
  'multipart/mixed;subscriptionSpec=1.0 for subscriptions.';

/**
 * Cancels the operation when the client disconnects. Throws NOT_ACCEPTABLE, and what {@link admit} throws. With `hasOwnFormat` the response is not
 * that of a GraphQL request: `Accept` does not matter here, and an invalid credential is refused before the operation is known.
 */
export function admitRequest(
  exchange: HttpExchange,
  { hasOwnFormat, options, identification, quota, extended }: ArrivedRequest & { hasOwnFormat: boolean; options: HttpTransportOptions },
): AdmittedRequest {
  const { request, response, requestId, trace } = exchange;
  const { forwardMutationHeaders, isAllowedOrigin } = options;
  const mediaType = chooseMediaType(request.headers.accept);
  const { accept } = request.headers;
  if (!mediaType && !hasOwnFormat && !chooseStreamFormat(accept) && !chooseIncrementalFormat(accept))
    throw fail('NOT_ACCEPTABLE', ACCEPTABLE);
  const { context, rejection } = admit(request, {
    identification,
    quota,
    forwardMutationHeaders,
    isAllowedOrigin,
    requestId,
    trace,
    extended,
  });
  if (hasOwnFormat && rejection) throw rejection;
  response.once('close', () => {
    if (response.writableFinished) return;
    context.cancellation.cancel();
    abandon(exchange);
  });
  return { context, rejection, exchange, mediaType, options };
}

/** Ends the record of a request whose client has disconnected before its response. */
export function abandon(exchange: HttpExchange): void {
  if (!exchange.response.headersSent) exchange.response.statusCode = CLIENT_CLOSED_REQUEST;
  exchange.end();
}

export interface HttpOperation {
  readonly parameters: Parameters;
  readonly upload?: Upload | undefined;
  readonly subscriber?: Subscriber | undefined;
  readonly incremental?: IncrementalFormat | undefined;
  /** Default: what the headers of the request name. */
  readonly client?: ClientApplication | undefined;
}

/** Passes an operation on to the pipeline. Throws what the pipeline throws. */
export function runOperation(
  { exchange: { request }, context, rejection, options }: AdmittedRequest,
  { parameters, upload, subscriber, incremental, client = readClientApplication(request) }: HttpOperation,
  done: (result: OperationResult) => void,
): void {
  const { run, verifier } = options;
  const reports = readReports(request, { caller: context.caller, isOpen: verifier === undefined });
  const resume = toResume(parameters, request);
  run(
    {
      parameters,
      context: upload ? { ...context, upload } : context,
      client,
      rejection,
      isReadOnly: isGet(request),
      reports,
      subscriber,
      resume,
      incremental,
    },
    done,
  );
}

/** A browser that reconnects sends the id of the last event as `Last-Event-ID` (HTML, "Server-sent events"). */
function toResume({ resume }: Parameters, { headers }: IncomingMessage): Parameters['resume'] {
  const last = headers['last-event-id'];
  return resume && typeof last === 'string' && last !== '' ? readResume({ resume: { after: last } }) : resume;
}

/** Reads `Trestle-Plan`, `Trestle-Cost` and `Trestle-Snapshot`. Plans are for administrators, and for every client of a gateway without credentials. */
function readReports({ headers }: IncomingMessage, { caller, isOpen }: { caller: Caller | null; isOpen: boolean }): Reports {
  return {
    plan: headers['trestle-plan'] === '1' && (isOpen || hasRole(caller, 'ADMIN')),
    cost: headers['trestle-cost'] === '1',
    supergraph: headers['trestle-snapshot'] === '1',
  };
}

/** A HEAD is handled like a GET, without the body (RFC 9110 §9.3.2). */
export function isGet({ method }: Pick<IncomingMessage, 'method'>): boolean {
  return method === 'GET' || method === 'HEAD';
}
