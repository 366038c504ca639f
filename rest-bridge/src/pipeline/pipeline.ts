/**
 * The path of a REST request. Each stage is a function in a file of its own, takes the value of the stage before, and throws the errors
 * that it names. All errors leave through `renderError`.
 *
 *     HttpRequest       receive                   414 429 501 503
 *                       locate                    400 404 406 410
 *       → MatchedRoute  match                     404 405, or a redirect or the allowed methods
 *       → AdmittedRequest  admit                  400 401
 *       → GatewayRequest   negotiate parse check  400 404 406 410 412 413 415
 *       → GatewayResult    call                   the errors of subgraphs, 502 504
 *       → HttpResponse     render                 412 416
 */
import type { ServerResponse } from 'node:http';
import { fail } from '@trestle/schema/errors';
import type { IsAllowedOrigin } from '@trestle/service/edge/allowed-origin';
import { isStreamed } from '@trestle/service/http1/streamed-body';
import type { FileClient } from '../gateway/file-client.ts';
import { VARY } from '../http/caching.ts';
import type { GatewayClient } from '../gateway/gateway-client.ts';
import type { EventStreams } from '../http/event-streams.ts';
import type { LoadSlot } from '../http/overload.ts';
import type { ResponseHeaders } from '../http/response.ts';
import { sendResponse } from '../http/send-response.ts';
import { type Paging, toCursorNames } from '../query/paging.ts';
import type { RouteTable } from '../routes/route-table.ts';
import { NO_HEADERS, type Versions } from '../versions/versions.ts';
import { toRefusedBodyHeaders } from './accepted-bodies.ts';
import { admit } from './admit.ts';
import type { GatewayResult } from './call.ts';
import { continueUpload } from './continue-upload.ts';
import type { CompiledAlternative, CompiledLocalRoute, CompiledOperationRoute, CompiledRoute } from './compile.ts';
import type { AdmittedRequest, MatchedRoute } from './context.ts';
import { type GatewayRequest, toGatewayRequest, toSessionHeaders } from './gateway-request.ts';
import { locate, toVersionHeaders } from './locate.ts';
import { match } from './match.ts';
import { negotiate, prefersStream, requireNoSelection } from './negotiate.ts';
import { type ParsedRequest, parse } from './parse.ts';
import {
  type Handled,
  type Listener,
  type ReceivedRequest,
  type ReceiverDependencies,
  createListener,
  sendError,
  toCommonHeaders,
} from './receive.ts';
import { type PartialResponse, render } from './render.ts';
import { rethrowAfterConditions } from './rethrow-after-conditions.ts';
import { type ToRequest, runChecked } from './run-checked.ts';
import { sendFile } from './send-file.ts';
import { isStreamable, streamEvents } from './stream.ts';

/** What the pipeline needs. */
export interface PipelineDependencies extends ReceiverDependencies {
  readonly versions: Versions;
  /** The routes of each version. */
  readonly tables: ReadonlyMap<number, RouteTable<CompiledRoute>>;
  readonly gateway: GatewayClient;
  readonly streams: EventStreams;
  /** Reads the content of resources that are files. */
  readonly files: FileClient;
  /** The most bytes of an uploaded file. */
  readonly maxUploadBytes: number;
  /** Whether the browser's cookies may be used from the origin of a request. */
  readonly isAllowedOrigin: IsAllowedOrigin;
}

/** Creates the pipeline. */
export function createPipeline(dependencies: PipelineDependencies): Listener {
  return createListener(dependencies, {
    respond: (received, response) => runStages(dependencies, received, response),
    headersOf: (request) => toVersionHeaders(dependencies.versions, request),
  });
}

/** Runs the stages after the rate limit, and writes the response. */
async function runStages(
  dependencies: PipelineDependencies,
  { context, identity, slot }: ReceivedRequest,
  response: ServerResponse,
): Promise<Handled> {
  const { versions, tables } = dependencies;
  const { request, requestId, urlKeys } = context;
  const hasUrlKey = urlKeys.length > 0;
  let headers = toCommonHeaders(requestId);
  let matched: MatchedRoute | undefined;
  try {
    const target = locate(versions, request);
    const versionStatus = versions.statusOf(target.version, target);
    headers = withHeaders(toCommonHeaders(requestId, target.version), versionStatus.headers);
    if (versionStatus.retired !== undefined) throw fail('GONE', versionStatus.retired);

    const found = match(tables.get(target.version) ?? missingTable(), request.method ?? '', target);
    if ('status' in found) {
      sendResponse(request, response, await render(request, found, { common: headers, isAnonymous: true, hasUrlKey }));
      return toHandled(matched);
    }
    matched = found;
    headers = withHeaders(headers, found.compiled.route.headers);
    found.compiled.route.checkHeaders?.(request.headers);
    const admitted = admit(context, matched, identity);
    if (isStreamable(admitted) && prefersStream(admitted.compiled, request)) {
      await streamEvents(dependencies, admitted, { slot, response, headers: { ...headers, vary: VARY } });
      return toHandled(matched);
    }
    const routeResponse = await respond(dependencies, admitted, slot);
    const isAnonymous = admitted.caller === null;
    if (routeResponse.file) {
      const facts = { file: routeResponse.file, common: headers, isAnonymous, hasUrlKey };
      await sendFile({ request, cancellation: context.cancellation, response, slot }, facts, dependencies.files);
      return toHandled(matched);
    }
    const rendered = render(request, routeResponse, { common: headers, isAnonymous, hasUrlKey });
    const sent = rendered instanceof Promise ? await rendered : rendered;
    sendResponse(request, response, { status: sent.status, headers: sent.headers, content: sent.content, cookies: routeResponse.cookies });
    return toHandled(matched);
  } catch (error) {
    if (matched) headers = { ...headers, ...toRefusedBodyHeaders(error, matched.compiled, request.headers) };
    return { ...toHandled(matched), failure: await sendError(context, response, { error, headers }) };
  }
}

function toHandled(matched: MatchedRoute | undefined): Handled {
  return matched ? { route: matched.compiled.path, prefix: `/v${String(matched.target.version)}` } : UNMATCHED;
}

const UNMATCHED: Handled = { route: undefined };

/** Returns both; the first itself when there are no further headers. */
function withHeaders(headers: ResponseHeaders, further: ResponseHeaders = NO_HEADERS): ResponseHeaders {
  return further === NO_HEADERS ? headers : { ...headers, ...further };
}

/** Answers an admitted request: by the route itself, or through the gateway. */
async function respond(
  { gateway, files, isAllowedOrigin, maxUploadBytes }: PipelineDependencies,
  admitted: AdmittedRequest,
  slot: LoadSlot,
): Promise<PartialResponse> {
  const { context, target, caller, compiled } = admitted;
  const { request } = context;
  const alternative = negotiate(compiled, request.headers.accept, target.version);
  if (!isOperation(admitted)) return (compiled as CompiledLocalRoute).route.respond({ ...target, caller, request });
  try {
    const parsing = parse(admitted, maxUploadBytes);
    const parsed = parsing instanceof Promise ? await parsing : parsing;
    if (alternative) requireNoSelection(parsed.selection, alternative);
    // Only now, because a request whose body never completes would keep the slot. An upload is not complete yet.
    if (!isStreamed(request)) slot.acquire();
    const toRequest: ToRequest = (expectedVersions) =>
      toOperationRequest(admitted, parsed, { alternative, expectedVersions, isAllowedOrigin });
    const result = await runChecked(gateway, admitted, toRequest);
    const response = toRouteResponse(admitted, result, parsed.paging);
    if (alternative) return await withAlternative(response, alternative);
    return response.upload ? await continueUpload(admitted, response, files) : response;
  } catch (error) {
    return rethrowAfterConditions(error, gateway, admitted);
  }
}

function isOperation(admitted: AdmittedRequest): admitted is OperationRequest {
  return 'operation' in admitted.compiled;
}

type OperationRequest = AdmittedRequest<CompiledOperationRoute>;

interface NegotiatedOptions {
  readonly alternative: CompiledAlternative | undefined;
  readonly expectedVersions: readonly number[] | undefined;
  readonly isAllowedOrigin: IsAllowedOrigin;
}

function toOperationRequest(
  admitted: OperationRequest,
  { variables, files, bodyNames, selection, idempotency }: ParsedRequest,
  { alternative, expectedVersions, isAllowedOrigin }: NegotiatedOptions,
): GatewayRequest {
  const { operation, isMutation, route } = admitted.compiled;
  return toGatewayRequest(admitted, {
    operation: alternative?.operation ?? operation,
    selection,
    isMutation,
    variables: expectedVersions === undefined ? variables : { ...variables, expectedVersions },
    files,
    sentNames: bodyNames ?? toCursorNames(admitted.target.search),
    idempotency,
    sessionHeaders: route.isOfSession ? toSessionHeaders(admitted.context.request, isAllowedOrigin) : undefined,
  });
}

function toRouteResponse({ target, compiled }: OperationRequest, result: GatewayResult, paging: Paging | undefined): PartialResponse {
  const { value, errors, cacheControl: gatewayPolicy } = result;
  const { projection } = result.compiled;
  const { prefix, path, search } = target;
  const represent = (data: unknown) => projection.represent(data, prefix);
  const { status, body, document, file, upload, version, changedAt, headers } = compiled.route.toResponse(value, represent, {
    prefix,
    path,
    search,
    paging,
  });
  const cookies = compiled.route.isOfSession ? result.cookies : undefined;
  const all = toResultHeaders(result, headers);
  return { status, body, document, file, upload, version, changedAt, headers: all, errors, gatewayPolicy, cookies };
}

/** Adds what the gateway says of a result to the headers of a route; returns those themselves when it says nothing. */
function toResultHeaders({ isReplayed, serverTiming, age }: GatewayResult, own: ResponseHeaders | undefined): ResponseHeaders | undefined {
  if (!isReplayed && serverTiming === undefined && age === undefined) return own;
  return {
    ...own,
    ...(isReplayed && { 'idempotent-replayed': 'true' }),
    ...(serverTiming !== undefined && { 'server-timing': serverTiming }),
    ...(age !== undefined && { age }),
  };
}

async function withAlternative(response: PartialResponse, { type, write }: CompiledAlternative): Promise<PartialResponse> {
  const bytes = await write(response.body as Record<string, unknown>);
  return { ...response, document: { type, bytes } };
}

function missingTable(): never {
  throw new Error('A version has no route table');
}
