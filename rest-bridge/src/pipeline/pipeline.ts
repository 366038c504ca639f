/**
 * The path of a REST request. Each stage is a function in a file of its own, takes the value of the stage before, and throws the errors
 * that it names. All errors leave through `renderError`.
 *
 *     HttpRequest       locate                    400 404 406 410 414
 *       → MatchedRoute  match                     404 405 501, or a redirect or the allowed methods
 *       → AdmittedRequest  admit                  400 401
 *       → GatewayRequest   negotiate parse check  400 404 406 410 412 413 415
 *       → GatewayResult    call                   the errors of subgraphs, 502 504
 *       → HttpResponse     render                 412 416
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TokenVerifier } from '@trestle/identity/tokens';
import type { Log } from '@trestle/log';
import { ERRORS, type ErrorCode, fail } from '@trestle/schema/errors';
import { toRequestId } from '@trestle/service/request-id';
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
import { type GatewayRequest, toGatewayRequest } from './gateway-request.ts';
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
export interface PipelineDependencies {
  readonly versions: Versions;
  /** The routes of each version. */
  readonly tables: ReadonlyMap<number, RouteTable<CompiledRoute>>;
  readonly verifier: TokenVerifier;
  readonly gateway: GatewayClient;
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
    const context: RequestContext = { request, requestId, trace: tracing.begin(request.headers) };
    const { matched, failure } = await handleRequest(dependencies, context, response);

    const milliseconds = performance.now() - started;
    const { method = '' } = request;
    const status = response.statusCode;
    const route = matched?.compiled.path ?? 'unmatched';
    // A route or method that is not implemented is an error of the client, not of the process.
    if (failure && ERRORS[failure.code].status >= 500 && failure.code !== 'NOT_IMPLEMENTED') {
      log.error('request failed', { requestId, route, code: failure.code, error: failure.error });
    }
    if (context.trace) {
      endServerSpan(context.trace, { method, route: matched && `/v${String(matched.target.version)}${route}`, status });
    }
    observe({ route, method, status, seconds: milliseconds / 1000 });
    log.access({ requestId, method, route, status, durationMs: Math.round(milliseconds) });
  };
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
  const { versions, tables, verifier, load, maintenance } = dependencies;
  const { request, requestId } = context;
  const method = request.method ?? '';
  let headers = toCommonHeaders(requestId);
  let matched: MatchedRoute | undefined;
  let slot: LoadSlot | undefined;
  try {
    maintenance.check();
    slot = load.admit();
    requireMethod(method);

    const target = locate(versions, request);
    const versionStatus = versions.statusOf(target.version, target);
    headers = { ...toCommonHeaders(requestId, target.version), ...versionStatus.headers };
    if (versionStatus.retired !== undefined) throw fail('GONE', versionStatus.retired);

    const found = match(tables.get(target.version) ?? missingTable(), method, target);
    if ('status' in found) {
      sendResponse(request, response, await render(request, { ...found, isAnonymous: true, errors: [] }, headers));
      return { matched };
    }
    matched = found;
    const admitted = admit(context, matched, verifier);
    const routeResponse = await respond(dependencies, admitted, slot);
    const isAnonymous = admitted.caller === null;
    sendResponse(request, response, await render(request, { errors: [], ...routeResponse, isAnonymous }, headers));
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

interface PartialResponse extends RouteResponse {
  readonly errors?: readonly PartialError[];
}

/** Answers an admitted request: by the route itself, or through the gateway. */
async function respond({ gateway }: PipelineDependencies, admitted: AdmittedRequest, slot: LoadSlot): Promise<PartialResponse> {
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
    const result = await call(gateway, toOperationRequest(operationRequest, parsed, { alternative, expectedVersions }));
    return await toRouteResponse(operationRequest, result, { paging: parsed.paging, alternative });
  } catch (error) {
    return rethrowAfterConditions(error, gateway, operationRequest);
  }
}

type OperationRequest = AdmittedRequest<CompiledOperationRoute>;

interface NegotiatedOptions {
  readonly alternative: CompiledAlternative | undefined;
  readonly expectedVersions: readonly number[] | undefined;
}

function toOperationRequest(
  admitted: OperationRequest,
  { variables, selection, idempotency }: ParsedRequest,
  { alternative, expectedVersions }: NegotiatedOptions,
): GatewayRequest {
  const { operation, isMutation } = admitted.compiled;
  return toGatewayRequest(admitted, {
    operation: alternative?.operation ?? operation,
    selection,
    isMutation,
    variables: expectedVersions === undefined ? variables : { ...variables, expectedVersions },
    idempotency,
  });
}

interface ResponseOptions {
  readonly paging: Paging | undefined;
  readonly alternative: CompiledAlternative | undefined;
}

async function toRouteResponse(
  { target, compiled }: OperationRequest,
  { value, compiled: { projection }, errors, isReplayed, serverTiming }: GatewayResult,
  { paging, alternative }: ResponseOptions,
): Promise<PartialResponse> {
  const represent = (data: unknown) => projection.represent(data, target.prefix);
  const response = compiled.route.toResponse(value, represent, { ...target, paging });
  const headers = {
    ...response.headers,
    ...(isReplayed && { 'idempotent-replayed': 'true' }),
    ...(serverTiming !== undefined && { 'server-timing': serverTiming }),
  };
  if (!alternative) return { ...response, headers, errors };
  const bytes = await alternative.write(response.body as Record<string, unknown>);
  return { ...response, headers, errors, document: { type: alternative.type, bytes } };
}

/** Returns the headers of every response. */
function toCommonHeaders(requestId: string, version: number = DEFAULT_VERSION): ResponseHeaders {
  return { 'x-request-id': requestId, 'api-version': String(version), 'x-content-type-options': 'nosniff' };
}

function missingTable(): never {
  throw new Error('A version has no route table');
}
