/**
 * Receives every request of the bridge, whatever answers it: finds its caller, counts it, admits it, and reports it in the end.
 * The rate limit comes first, so that no path is free (spec §8).
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { takeUrlKeys } from '@trestle/identity/credentials/credential';
import type { Quota } from '@trestle/limits/quota';
import type { Log } from '@trestle/log';
import { ERRORS, type ErrorCode, type Fault } from '@trestle/schema/errors';
import { Cancellation } from '@trestle/service/process/cancellation';
import { toRequestId } from '@trestle/service/messages/request-id';
import { setLateHeaders } from '@trestle/service/messages/response-headers';
import type { SpanIds, Tracing } from '@trestle/telemetry';
import { endServerSpan } from '@trestle/telemetry/http';
import type { Maintenance } from '../http/maintenance.ts';
import type { LoadGuard, LoadSlot } from '../http/overload.ts';
import type { ResponseHeaders } from '../http/response.ts';
import { ResponseEnd } from '../http/response-end.ts';
import { sendResponse } from '../http/send-response.ts';
import { DEFAULT_VERSION } from '../versions/versions.ts';
import type { RequestContext } from './context.ts';
import { type Identity, type IdentifyDependencies, identify } from './identify.ts';
import { UNVERSIONED, requireUrlLength } from './locate.ts';
import { requireMethod } from './match.ts';
import { type RenderFault, renderError } from './render-error.ts';

/** The measurements of one request. */
export interface RequestMetrics {
  readonly route: string;
  readonly method: string;
  readonly status: number;
  readonly seconds: number;
  /** The request's span, when it is exported. */
  readonly span: SpanIds | undefined;
}

/** What requests are received with. */
export interface ReceiverDependencies extends IdentifyDependencies {
  readonly load: LoadGuard;
  readonly maintenance: Maintenance;
  readonly tracing: Tracing;
  readonly log: Log;
  /** Called once for each request, after its response has been written. */
  readonly observe: (metrics: RequestMetrics) => void;
}

/** A request that was counted and may be answered. */
export interface ReceivedRequest {
  readonly context: RequestContext;
  readonly identity: Identity;
  /** Acquired when the body is complete: one that never completes would keep it. */
  readonly slot: LoadSlot;
}

/** What the metrics and the log report about an answered request. */
export interface Handled {
  /** The path of the route, such as `/users/{id}`; undefined when none matched. */
  readonly route: string | undefined;
  /** What stands before the path in the name of the span. */
  readonly prefix?: string;
  readonly failure?: Failure | undefined;
}

/** An error that was sent to the client. */
export interface Failure {
  readonly code: ErrorCode;
  readonly error: unknown;
}

/** Answers a received request. Sends errors by {@link sendError} itself, and rejects only when that failed too. */
export type Respond = (received: ReceivedRequest, response: ServerResponse) => Promise<Handled>;

/** What answers the requests of a listener. */
export interface Responder {
  readonly respond: Respond;
  /** Writes the errors that come before `respond`; default: those of the API. */
  readonly render?: RenderFault;
  /** Returns the headers of these errors besides the id of the request; default: those of version 1. */
  readonly headersOf?: (request: IncomingMessage) => ResponseHeaders;
}

/** Handles one request. Rejects only when not even the error could be rendered. */
export type Listener = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** Creates a listener. */
export function createListener(dependencies: ReceiverDependencies, responder: Responder): Listener {
  const { log, observe, tracing, rateLimits } = dependencies;
  return async (request, response) => {
    const started = performance.now();
    const requestId = toRequestId(request.headers['x-request-id']);
    const urlKeys = takeUrlKeys(request);
    const trace = tracing.begin(request.headers);
    const { cancellation, responseEnd } = watchClient(response);
    const context: RequestContext = { request, requestId, urlKeys, trace, cancellation, responseEnd };
    const found = identify(context, dependencies);
    const identity = found instanceof Promise ? await found : found;
    const quota = rateLimits.open(request, identity.caller);
    setLateHeaders(response, (status) => quota.headersFor(status));
    const { route, prefix = '', failure } = await handle(dependencies, { context, identity, quota, responder }, response);

    const milliseconds = performance.now() - started;
    const { method = '' } = request;
    const status = response.statusCode;
    const name = route ?? 'unmatched';
    // A method that is not implemented, or a client that disconnects, is no error of the process.
    const isExpected = failure?.code === 'NOT_IMPLEMENTED' || context.cancellation.isCancelled;
    if (failure && ERRORS[failure.code].status >= 500 && !isExpected)
      log.error('request failed', { requestId, route: name, code: failure.code, error: failure.error });
    if (context.trace) endServerSpan(context.trace, { method, route: route && `${prefix}${route}`, status });
    const span = context.trace?.ids;
    observe({ route: name, method, status, seconds: milliseconds / 1000, span });
    const line = { requestId, method, route: name, status, durationMs: Math.round(milliseconds) };
    log.access(span ? { ...line, ...span } : line);
  };
}

interface CountedRequest {
  readonly context: RequestContext;
  readonly identity: Identity;
  readonly quota: Quota;
  readonly responder: Responder;
}

/** Counts and admits the request, and has it answered. */
async function handle(
  { load, maintenance }: ReceiverDependencies,
  { context, identity, quota, responder }: CountedRequest,
  response: ServerResponse,
): Promise<Handled> {
  const { request, requestId } = context;
  const { respond, render, headersOf = () => UNVERSIONED } = responder;
  let slot: LoadSlot | undefined;
  try {
    const isCounted = limit(quota);
    if (isCounted) await isCounted;
    maintenance.check();
    slot = load.admit();
    requireMethod(request.method ?? '');
    requireUrlLength(request.url ?? '');
    return await respond({ context, identity, slot }, response);
  } catch (error) {
    const headers = { 'x-request-id': requestId, ...headersOf(request) };
    return { route: undefined, failure: await sendError(context, response, { error, headers, render }) };
  } finally {
    slot?.release();
  }
}

/** Returns what ends the queries of a request when its client disconnects before the response is sent (mutations complete), and the end of the response. */
function watchClient(response: ServerResponse): Pick<RequestContext, 'cancellation' | 'responseEnd'> {
  const cancellation = new Cancellation();
  const responseEnd = new ResponseEnd();
  response.once('close', () => {
    if (!response.writableFinished) cancellation.cancel();
    responseEnd.end();
  });
  return { cancellation, responseEnd };
}

/** Counts the request: at once, unless Redis is asked. Throws or rejects with RATE_LIMIT_EXCEEDED when the caller has no requests left. */
function limit(quota: Quota): Promise<void> | undefined {
  const counted: { isOver: boolean; fault?: Fault | undefined; settle?: () => void } = { isOver: false };
  quota.begin((fault) => {
    counted.isOver = true;
    counted.fault = fault;
    counted.settle?.();
  });
  if (counted.fault) throw counted.fault;
  if (counted.isOver) return undefined;
  return new Promise((resolve, reject) => {
    counted.settle = () => {
      if (counted.fault) reject(counted.fault);
      else resolve();
    };
  });
}

/** Returns the headers of every response. */
export function toCommonHeaders(requestId: string, version: number = DEFAULT_VERSION): ResponseHeaders {
  return { 'x-request-id': requestId, 'api-version': String(version) };
}

/** Sends an error, or closes the connection when the response has begun. Returns what is reported of it. */
export async function sendError(
  context: RequestContext,
  response: ServerResponse,
  { error, headers, render }: { readonly error: unknown; readonly headers: ResponseHeaders; readonly render?: RenderFault | undefined },
): Promise<Failure> {
  const rendered = await renderError(context, error, { common: headers, render });
  if (response.headersSent) response.destroy();
  else sendResponse(context.request, response, rendered.response);
  return { code: rendered.code, error };
}
