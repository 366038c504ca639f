/** The HTTP transport: GraphQL requests by GET and POST on node:http (GraphQL over HTTP; contract §1, §6). */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isMultipart } from '@trestle/multipart/boundary';
import { fail } from '@trestle/schema/errors';
import { type ServeGraphiql, createGraphiql } from '@trestle/service/graphiql';
import { setLateHeaders } from '@trestle/service/response-headers';
import { toPackageUrl } from '../../package-files.ts';
import { NO_STORE_TEXT } from '../../request/cache-policy.ts';
import { toCacheHeaders, toFetchStatus } from '../../request/cache-report.ts';
import { type Identification, tryIdentify } from '../../request/caller.ts';
import type { OperationResult } from '../../request/operation.ts';
import { type Parameters, readParameters, readSearchParameters } from '../../request/parameters.ts';
import { MAX_URL_BYTES } from '../../request/url.ts';
import {
  type AdmittedRequest,
  type ArrivedRequest,
  type Endpoint,
  type HttpOperation,
  type HttpTransportOptions,
  abandon,
  isGet,
  runOperation,
} from './admitted-request.ts';
import { runBatch } from './batch.ts';
import { readBody } from './body.ts';
import { chooseCacheControl } from './cache-control.ts';
import { rejectCrossSite } from './cross-site.ts';
import { HttpExchange } from './exchange.ts';
import { admitExtended } from './extended-admission.ts';
import { type IncrementalChoice, type MediaType, chooseIncrementalFormat, chooseStreamFormat } from './negotiation.ts';
import { ALLOW } from './refusal.ts';
import { handleReserved, isReservedRequest } from './reserved-requests.ts';
import { type Head, toRetryAfter } from './send.ts';
import { readUpload } from './upload.ts';

/** Creates the handler of all requests that are not probes. */
export function createHttpTransport(options: HttpTransportOptions): (request: IncomingMessage, response: ServerResponse) => void {
  const parts = {
    ...options,
    serveGraphiql: options.hasGraphiql ? createGraphiql(toPackageUrl('dist/graphiql/'), options.path) : undefined,
  };
  return (request, response) => {
    const served = options.endpoints.find(({ path }) => isAt(request, path));
    const exchange = new HttpExchange(request, response, served ? { ...options, served } : options);
    const identification = tryIdentify(request, options, { urlKeys: exchange.urlKeys });
    if (identification instanceof Promise)
      exchange.guardAsync(
        identification.then((found) => {
          arrive(exchange, { identification: found, served }, parts);
        }),
      );
    else
      exchange.guard(() => {
        arrive(exchange, { identification, served }, parts);
      });
  };
}

interface TransportParts extends HttpTransportOptions {
  /** Undefined where GraphiQL is off. */
  readonly serveGraphiql: ServeGraphiql | undefined;
}

interface IdentifiedRequest {
  readonly identification: Identification;
  /** Undefined for a GraphQL request. */
  readonly served: Endpoint | undefined;
}

/** Counts a request whose caller is known, and routes it. Throws RATE_LIMIT_EXCEEDED, and what {@link route} throws. */
function arrive(exchange: HttpExchange, { identification, served }: IdentifiedRequest, options: TransportParts): void {
  const { request, response } = exchange;
  const quota = options.rateLimits.open(request, identification.identity.caller);
  setLateHeaders(response, (status) => quota.headersFor(status));
  quota.begin((fault) => {
    exchange.guard(() => {
      if (fault) throw fault;
      // The client may have disconnected while its API key was checked.
      if (response.destroyed) abandon(exchange);
      else if (served) served.handle(exchange, { identification, quota }, options);
      else route(exchange, { identification, quota }, options);
    });
  });
}

/** Throws URI_TOO_LONG, NOT_FOUND, METHOD_NOT_ALLOWED, FORBIDDEN, and what the following stages throw. */
function route(exchange: HttpExchange, arrived: ArrivedRequest, options: TransportParts): void {
  const { request } = exchange;
  const end = () => {
    exchange.end();
  };
  if (options.serveGraphiql?.(exchange, end)) return;
  const search = readSearch(request, options.path);
  if (request.method === 'OPTIONS') {
    exchange.sendText(200, { allow: ALLOW }, '');
    return;
  }
  const isReserved = isReservedRequest(request, search);
  if (!isGet(request) && request.method !== 'POST' && !isReserved) throw fail('METHOD_NOT_ALLOWED', 'Use GET or POST.');
  rejectCrossSite(request);
  rejectForeignStream(request, options);
  const { identification, quota } = arrived;
  admitExtended(exchange, { identification, quota, hasOwnFormat: isReserved, options }, (admitted) => {
    if (isReserved) handleReserved(admitted, search);
    else if (isGet(request)) runSingle(admitted, { parameters: readSearchParameters(search) });
    else readOperations(admitted);
  });
}

function isAt({ url = '/' }: IncomingMessage, path: string): boolean {
  return url === path || url.startsWith(`${path}?`);
}

/** Returns the query string of a GraphQL request. Throws URI_TOO_LONG, and NOT_FOUND for another path. */
function readSearch({ url = '/' }: IncomingMessage, path: string): string {
  if (url.length > MAX_URL_BYTES) throw fail('URI_TOO_LONG', `The URL exceeds the limit of ${String(MAX_URL_BYTES)} bytes.`);
  const mark = url.indexOf('?');
  if ((mark < 0 ? url : url.slice(0, mark)) !== path) throw fail('NOT_FOUND', `The path does not exist. Use ${path}.`);
  return mark < 0 ? '' : url.slice(mark);
}

/**
 * Rejects event streams for pages of other origins that are not listed: `EventSource` sends its request without a preflight, and would hold a
 * stream that it may not read.
 */
function rejectForeignStream(request: IncomingMessage, { isAllowedOrigin }: HttpTransportOptions): void {
  const { origin, accept } = request.headers;
  if (origin !== undefined && chooseStreamFormat(accept) && !isAllowedOrigin(request))
    throw fail('FORBIDDEN', 'The origin may not open event streams. The operator of the API must add it to CORS_ORIGINS.');
}

/** Reads one operation, with or without files, or a batch from the body. */
function readOperations(admitted: AdmittedRequest): void {
  const { exchange, options } = admitted;
  if (isMultipart(exchange.request.headers['content-type'])) {
    exchange.guardAsync(
      readUpload(exchange.request, options.maxUploadBytes).then(({ parameters, upload }) => {
        runSingle(admitted, { parameters, upload });
      }),
    );
    return;
  }
  readBody(exchange.request, options.maxBodyBytes, (error, body) => {
    exchange.guard(() => {
      if (error) throw error;
      if (!Array.isArray(body)) {
        runSingle(admitted, { parameters: readParameters(body as Record<string, unknown>) });
        return;
      }
      const run = (parameters: Parameters, done: (result: OperationResult) => void) => {
        runOperation(admitted, { parameters }, done);
      };
      runBatch({ items: body, limit: options.maxBatch, requestId: exchange.requestId, run }, (result) => {
        exchange.guard(() => {
          exchange.sendResult(200, toHead(admitted, admitted.mediaType, result), result);
        });
      });
    });
  });
}

/** Runs one operation and sends its result: as JSON, or in a stream when the client prefers that. */
function runSingle(admitted: AdmittedRequest, { parameters, upload }: Pick<HttpOperation, 'parameters' | 'upload'>): void {
  const { exchange, mediaType, context, options } = admitted;
  const choice = chooseStreamFormat(exchange.request.headers.accept);
  // A response to HEAD ends with its head.
  const isStreamable = choice !== undefined && exchange.request.method !== 'HEAD';
  const subscriber = isStreamable ? options.responses.createOperation(exchange, { format: choice.format, context }) : undefined;
  const isStreamed = choice !== undefined && (choice.isPreferred || !mediaType);
  const incremental = chooseParts(admitted);
  // Of `multipart/mixed` the format of subscriptions is for subscriptions.
  const isPart = ({ operationKind }: OperationResult) =>
    (isStreamed && (operationKind === 'query' || operationKind === 'mutation')) || (!choice && !mediaType);
  runOperation(admitted, { parameters, upload, subscriber, incremental: incremental?.spec }, (result) => {
    exchange.guard(() => {
      exchange.record.setOperation(result.operationName, result.operationKind);
      // What is opened for a client that has disconnected would never be closed.
      if (exchange.response.destroyed) {
        result.release?.();
        abandon(exchange);
        return;
      }
      if (incremental && (result.rest || isPart(result))) {
        const openEncoder = () => exchange.compression.openParts(exchange.request.headers['accept-encoding']);
        const { format } = incremental;
        options.responses.createOperation(exchange, { format, context, openEncoder }).sendResult(result);
        return;
      }
      if (subscriber && isStreamed) {
        subscriber.sendResult(result);
        return;
      }
      const status = isStreamed ? 200 : (result.status ?? mediaType?.statusOf(result.outcome) ?? 200);
      exchange.sendResult(status, toHead(admitted, isStreamed ? choice.format : mediaType, result), result);
    });
  });
}

/** Returns how the client takes deferred parts; undefined while the process has no room for another open response. */
function chooseParts({ exchange: { request }, options }: AdmittedRequest): IncrementalChoice | undefined {
  const choice = request.method === 'HEAD' ? undefined : chooseIncrementalFormat(request.headers.accept);
  return choice && options.responses.hasRoom ? choice : undefined;
}

function toHead(
  { exchange: { request }, context, options }: AdmittedRequest,
  mediaType: Pick<MediaType, 'contentType'> | undefined,
  result: OperationResult,
): Head {
  const { status, challenge, retryAfterSeconds } = result;
  const head: Record<string, string | string[]> = { 'content-type': mediaType?.contentType ?? 'application/json; charset=utf-8' };
  const reported = context.fetchLog.toHeaders(context.caller);
  for (const name in reported) head[name] = reported[name] as string | string[];
  const cacheControl = chooseCacheControl(request, context, result);
  head['cache-control'] = cacheControl;
  if (cacheControl !== NO_STORE_TEXT) head['vary'] = options.cacheVary;
  if (result.cached) Object.assign(head, toCacheHeaders(result.cached));
  if (result.fetched) head['cache-status'] = [head['cache-status'] ?? [], toFetchStatus(result.fetched)].flat().join(', ');
  if (challenge !== undefined) head['www-authenticate'] = challenge;
  if (retryAfterSeconds !== undefined) Object.assign(head, toRetryAfter(retryAfterSeconds));
  if (status === 405) head['allow'] = isGet(request) ? 'POST' : ALLOW;
  return head;
}
