/**
 * The path of a REST request. Each stage is a function in a file of its own, takes the value of the stage before, and throws the errors
 * that it names. All errors leave through `renderError`.
 *
 *     HttpRequest       identify limit            429
 *                       locate                    400 404 406 410 414
 *       → MatchedRoute  match                     404 405 501, or a redirect or the allowed methods
 *       → AdmittedRequest  admit                  400 401
 *       → GatewayRequest   negotiate parse check  400 404 406 410 412 413 415
 *       → GatewayResult    call                   the errors of subgraphs, 502 504
 *       → HttpResponse     render                 412 416
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { takeUrlKeys } from '@trestle/identity/credential';
import type { Quota } from '@trestle/limits/quota';
import type { RateLimits } from '@trestle/limits/settings';
import type { Log } from '@trestle/log';
import { ERRORS, type ErrorCode, fail } from '@trestle/schema/errors';
import type { IsAllowedOrigin } from '@trestle/service/allowed-origin';
import { Cancellation } from '@trestle/service/cancellation';
import { toRequestId } from '@trestle/service/request-id';
import { setLateHeaders } from '@trestle/service/response-headers';
import type { Tracing } from '@trestle/telemetry';
import { endServerSpan } from '@trestle/telemetry/http';
import type { GatewayClient } from '../gateway/gateway-client.ts';
import type { Maintenance } from '../http/maintenance.ts';
import type { LoadGuard, LoadSlot } from '../http/overload.ts';
import type { ResponseHeaders, RouteResponse } from '../http/response.ts';
import { sendResponse } from '../http/send-response.ts';
import type { Paging } from '../query/paging.ts';
import type { RouteTable } from '../routes/route-table.ts';
import { DEFAULT_VERSION, type Versions } from '../versions/versions.ts';
import { admit } from './admit.ts';
import { type GatewayResult, type PartialError, call } from './call.ts';
import { check, rethrowAfterConditions } from './check.ts';
import type { CompiledAlternative, CompiledOperationRoute, CompiledRoute } from './compile.ts';
import type { AdmittedRequest, MatchedRoute, RequestContext } from './context.ts';
import { type GatewayRequest, toGatewayRequest, toSessionHeaders } from './gateway-request.ts';
import { type IdentifyDependencies, identify } from './identify.ts';
import { locate } from './locate.ts';
import { match, requireMethod } from './match.ts';
import { negotiate } from './negotiate.ts';
import { type ParsedRequest, parse } from './parse.ts';
import { renderError } from './render-error.ts';
import { render } from './render.ts';

/** The measurements of one request. */
export interface RequestMetrics {
  readonly route: string;
  readonly method: string;
  readonly status: number;
  readonly seconds: number;
}

/** What the pipeline needs. */
export interface PipelineDependencies extends IdentifyDependencies {
  readonly versions: Versions;
  /** The routes of each version. */
  readonly tables: ReadonlyMap<number, RouteTable<CompiledRoute>>;
  readonly rateLimits: RateLimits;
  readonly gateway: GatewayClient;
  /** Whether the browser's cookies may be used from the origin of a request. */
  readonly isAllowedOrigin: IsAllowedOrigin;
  readonly load: LoadGuard;
  readonly maintenance: Maintenance;
  readonly tracing: Tracing;
  readonly log: Log;
  /** Called once for each request, after its response has been written. */
  readonly observe: (metrics: RequestMetrics) => void;
}

/** Handles one request. Rejects only when not even the error could be rendered. */
export type Pipeline = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** Creates the pipeline. */
export function createPipeline(dependencies: PipelineDependencies): Pipeline {
  const { log, observe, tracing } = dependencies;
  return async (request, response) => {
    const started = performance.now();
    const requestId = toRequestId(request.headers['x-request-id']);
    const urlKeys = takeUrlKeys(request);
    // A page that links elsewhere must not pass on the URL that the browser shows.
    if (urlKeys.length > 0) response.setHeader('referrer-policy', 'no-referrer');
    const context: RequestContext = {
      request,
      requestId,
      urlKeys,
      trace: tracing.begin(request.headers),
      cancellation: watchClient(response),
    };
    const { matched, failure } = await handleRequest(dependencies, context, response);

    const milliseconds = performance.now() - started;
    const { method = '' } = request;
    const status = response.statusCode;
    const route = matched?.compiled.path ?? 'unmatched';
    // A method that is not implemented, or a client that disconnects, is no error of the process.
    const isExpected = failure?.code === 'NOT_IMPLEMENTED' || context.cancellation.isCancelled;
    if (failure && ERRORS[failure.code].status >= 500 && !isExpected) {
      log.error('request failed', { requestId, route, code: failure.code, error: failure.error });
    }
    if (context.trace) {
      endServerSpan(context.trace, { method, route: matched && `/v${String(matched.target.version)}${route}`, status });
    }
    observe({ route, method, status, seconds: milliseconds / 1000 });
    log.access({ requestId, method, route, status, durationMs: Math.round(milliseconds) });
  };
}

/** Returns what ends the queries of a request when its client disconnects before the response is sent. Mutations complete. */
function watchClient(response: ServerResponse): Cancellation {
  const cancellation = new Cancellation();
  response.once('close', () => {
    if (!response.writableFinished) cancellation.cancel();
  });
  return cancellation;
}

/** What the metrics and the log report about a request. */
interface HandledRequest {
  /** Undefined when no route matched. */
  readonly matched: MatchedRoute | undefined;
  readonly failure?: { readonly code: ErrorCode; readonly error: unknown };
}

/** Runs all stages and writes the response. */
async function handleRequest(
  dependencies: PipelineDependencies,
  context: RequestContext,
  response: ServerResponse,
): Promise<HandledRequest> {
  const { versions, tables, rateLimits, load, maintenance } = dependencies;
  const { request, requestId, urlKeys } = context;
  const method = request.method ?? '';
  const hasUrlKey = urlKeys.length > 0;
  let headers = toCommonHeaders(requestId);
  let matched: MatchedRoute | undefined;
  let slot: LoadSlot | undefined;
  const found = identify(context, dependencies);
  const identity = found instanceof Promise ? await found : found;
  const quota = rateLimits.open(request, identity.caller);
  setLateHeaders(response, (status) => quota.headersFor(status));
  try {
    await limit(quota);
    maintenance.check();
    slot = load.admit();
    requireMethod(method);

    const target = locate(versions, request);
    const versionStatus = versions.statusOf(target.version, target);
    headers = { ...toCommonHeaders(requestId, target.version), ...versionStatus.headers };
    if (versionStatus.retired !== undefined) throw fail('GONE', versionStatus.retired);

    const found = match(tables.get(target.version) ?? missingTable(), method, target);
    if ('status' in found) {
      sendResponse(request, response, await render(request, { ...found, isAnonymous: true, hasUrlKey, errors: [] }, headers));
      return { matched };
    }
    matched = found;
    const admitted = admit(context, matched, identity);
    const routeResponse = await respond(dependencies, admitted, slot);
    const isAnonymous = admitted.caller === null;
    const rendered = await render(request, { errors: [], ...routeResponse, isAnonymous, hasUrlKey }, headers);
    sendResponse(request, response, { ...rendered, cookies: routeResponse.cookies });
    return { matched };
  } catch (error) {
    const rendered = await renderError(context, error, headers);
    if (response.headersSent) response.destroy();
    else sendResponse(request, response, rendered.response);
    return { matched, failure: { code: rendered.code, error } };
  } finally {
    slot?.release();
  }
}

/** Counts the request. Throws RATE_LIMIT_EXCEEDED when the caller has no requests left. */
function limit(quota: Quota): Promise<void> {
  return new Promise((resolve, reject) => {
    quota.begin((fault) => {
      if (fault) reject(fault);
      else resolve();
    });
  });
}

interface PartialResponse extends RouteResponse {
  readonly errors?: readonly PartialError[];
}

/** Answers an admitted request: by the route itself, or through the gateway. */
async function respond(
  { gateway, isAllowedOrigin }: PipelineDependencies,
  admitted: AdmittedRequest,
  slot: LoadSlot,
): Promise<PartialResponse> {
  const { context, target, caller, compiled } = admitted;
  const { request } = context;
  const alternative = negotiate(compiled, request.headers.accept, target.version);
  if (!('operation' in compiled)) return compiled.route.respond({ ...target, caller, request });
  const operationRequest: OperationRequest = { ...admitted, compiled };
  try {
    const parsed = await parse(operationRequest);
    // Only now, because a request whose body never completes would keep the slot.
    slot.acquire();
    const expectedVersions = await check(gateway, operationRequest);
    const result = await call(gateway, toOperationRequest(operationRequest, parsed, { alternative, expectedVersions, isAllowedOrigin }));
    return await toRouteResponse(operationRequest, result, { paging: parsed.paging, alternative });
  } catch (error) {
    return rethrowAfterConditions(error, gateway, operationRequest);
  }
}

type OperationRequest = AdmittedRequest<CompiledOperationRoute>;

interface NegotiatedOptions {
  readonly alternative: CompiledAlternative | undefined;
  readonly expectedVersions: readonly number[] | undefined;
  readonly isAllowedOrigin: IsAllowedOrigin;
}

function toOperationRequest(
  admitted: OperationRequest,
  { variables, selection, idempotency }: ParsedRequest,
  { alternative, expectedVersions, isAllowedOrigin }: NegotiatedOptions,
): GatewayRequest {
  const { operation, isMutation, route } = admitted.compiled;
  return toGatewayRequest(admitted, {
    operation: alternative?.operation ?? operation,
    selection,
    isMutation,
    variables: expectedVersions === undefined ? variables : { ...variables, expectedVersions },
    idempotency,
    sessionHeaders: route.isOfSession ? toSessionHeaders(admitted.context.request, isAllowedOrigin) : undefined,
  });
}

interface ResponseOptions {
  readonly paging: Paging | undefined;
  readonly alternative: CompiledAlternative | undefined;
}

async function toRouteResponse(
  { target, compiled }: OperationRequest,
  { value, compiled: { projection }, errors, isReplayed, serverTiming, cookies }: GatewayResult,
  { paging, alternative }: ResponseOptions,
): Promise<PartialResponse> {
  const represent = (data: unknown) => projection.represent(data, target.prefix);
  const response = compiled.route.toResponse(value, represent, { ...target, paging });
  const headers = {
    ...response.headers,
    ...(isReplayed && { 'idempotent-replayed': 'true' }),
    ...(serverTiming !== undefined && { 'server-timing': serverTiming }),
  };
  if (!alternative) return { ...response, headers, errors, ...(compiled.route.isOfSession && { cookies }) };
  const bytes = await alternative.write(response.body as Record<string, unknown>);
  return { ...response, headers, errors, document: { type: alternative.type, bytes } };
}

/** Returns the headers of every response. */
function toCommonHeaders(requestId: string, version: number = DEFAULT_VERSION): ResponseHeaders {
  return { 'x-request-id': requestId, 'api-version': String(version) };
}

function missingTable(): never {
  throw new Error('A version has no route table');
}
