/** The HTTP transport: GraphQL requests by GET and POST on node:http (GraphQL over HTTP; contract §1, §6). */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isMultipart } from '@trestle/multipart/boundary';
import { fail } from '@trestle/schema/errors';
import { type ServeGraphiql, createGraphiql } from '@trestle/service/messages/graphiql';
import { setLateHeaders } from '@trestle/service/messages/response-headers';
import { isAt } from '../../observability/tracing.ts';
import { toPackageUrl } from '../../package-files.ts';
import { type Identification, tryIdentify } from '../../request/caller.ts';
import type { OperationResult } from '../../request/operation.ts';
import { type Parameters, readParameters, readSearchParameters } from '../../request/parameters.ts';
import { MAX_URL_BYTES } from '../../request/url.ts';
import {
  type AdmittedRequest,
  type ArrivedRequest,
  type Endpoint,
  type HttpTransportOptions,
  abandon,
  isGet,
  runOperation,
} from './admitted-request.ts';
import { runBatch } from './batch.ts';
import { readBody } from './body.ts';
import { rejectCrossSite } from './cross-site.ts';
import { HttpExchange } from './exchange.ts';
import { admitExtended } from './extended-admission.ts';
import { chooseStreamFormat } from './negotiation.ts';
import { ALLOW } from './refusal.ts';
import { handleReserved, isReservedRequest } from './reserved-requests.ts';
import { toHead } from './result-head.ts';
import { runSingle } from './run-single.ts';
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
    exchange.record.setRoute(options.path);
    exchange.end();
  };
  if (options.serveGraphiql?.(exchange, end)) return;
  const search = readSearch(request, options);
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

/** Returns the query string of a GraphQL request. Throws URI_TOO_LONG, and NOT_FOUND for another path. */
function readSearch({ url = '/' }: IncomingMessage, { path, publicPath }: HttpTransportOptions): string {
  if (url.length > MAX_URL_BYTES) throw fail('URI_TOO_LONG', `The URL exceeds the limit of ${String(MAX_URL_BYTES)} bytes.`);
  const mark = url.indexOf('?');
  if ((mark < 0 ? url : url.slice(0, mark)) !== path) throw fail('NOT_FOUND', `The path does not exist. Use ${publicPath}.`);
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
