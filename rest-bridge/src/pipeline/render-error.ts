/** Turns errors into HTTP responses: the envelope of spec §7.1, or problem details for clients that accept nothing else (RFC 9457). */
import { STATUS_CODES } from 'node:http';
import { toChallenge } from '@trestle/identity/credentials/challenge';
import { ERRORS, type ErrorCode, Fault, toFault } from '@trestle/schema/errors';
import { retryAfterOf } from '@trestle/schema/retry-after';
import type { Refusal, RefusalResponse } from '@trestle/service/http1/refusals';
import { VARY } from '../http/caching.ts';
import { JSON_TYPE, PROBLEM_TYPE, wantsProblem } from '../http/media-types.ts';
import type { HttpResponse, ResponseHeaders } from '../http/response.ts';
import { type ResponseContent, chooseContentCoding, withContentCoding } from '../http/send-response.ts';
import type { RequestContext } from './context.ts';
import { MethodNotAllowed } from './match.ts';
import { RangeNotSatisfiable } from './render.ts';

/** The response to a failed request, and the code for the log. */
export interface RenderedError {
  readonly response: HttpResponse;
  readonly code: ErrorCode;
}

/** The request that failed. */
export type FailedRequest = Pick<RequestContext, 'request' | 'requestId'>;

/** Returns the content of an error. */
export type RenderFault = (fault: Fault, failed: FailedRequest) => ResponseContent | Promise<ResponseContent>;

/** How an error is rendered. */
export interface ErrorRendering {
  /** The headers of every response. */
  readonly common: ResponseHeaders;
  /** Default: the envelope of spec §7.1, or problem details. */
  readonly render?: RenderFault | undefined;
}

const renderFault: RenderFault = (fault, { request, requestId }) =>
  wantsProblem(request.headers.accept)
    ? { type: PROBLEM_TYPE, content: JSON.stringify(toProblem(fault, requestId)) }
    : { type: JSON_TYPE, content: JSON.stringify(toEnvelope(fault, requestId)) };

/** Returns the response to an error. An error that is not meant for clients becomes INTERNAL_ERROR. */
export async function renderError(
  failed: FailedRequest,
  error: unknown,
  { common, render = renderFault }: ErrorRendering,
): Promise<RenderedError> {
  const { request } = failed;
  const fault = toClientFault(error);
  const { type, content } = await render(fault, failed);
  const headers = {
    ...common,
    'content-type': type,
    'cache-control': 'no-store',
    vary: VARY,
    ...toErrorHeaders(error, fault),
    // Nothing reads the rest of the body, so that the connection cannot be used again.
    ...(!request.complete && { connection: 'close' }),
  };
  const response = { status: ERRORS[fault.code].status, headers, content };
  return { code: fault.code, response: await withContentCoding(response, chooseContentCoding(request, { content, type })) };
}

/** Returns the response to a request that was refused before the pipeline. */
export function toRefusalResponse({ requestId, accept, ...refusal }: Refusal): RefusalResponse {
  return wantsProblem(accept) ? { type: PROBLEM_TYPE, body: toProblem(refusal, requestId) } : { body: toEnvelope(refusal, requestId) };
}

type ReportedFault = Pick<Fault, 'code' | 'message'> & Partial<Pick<Fault, 'details' | 'retryAfterSeconds' | 'rateLimit' | 'secondFactor'>>;

function toEnvelope(fault: ReportedFault, requestId: string): object {
  const { code, message, details, secondFactor } = fault;
  return {
    error: { code, message, ...(details && { details }), requestId, ...toRateLimitMembers(fault), ...(secondFactor && { secondFactor }) },
  };
}

/** The members of an error on rate limiting (spec §7.1). */
function toRateLimitMembers({ retryAfterSeconds, rateLimit }: ReportedFault): object | undefined {
  return rateLimit && { retryAfter: retryAfterSeconds, ...rateLimit };
}

function toProblem(fault: ReportedFault, requestId: string): object {
  const { code, message, details, secondFactor } = fault;
  const { status } = ERRORS[code];
  return {
    type: 'about:blank',
    title: STATUS_CODES[status],
    status,
    detail: message,
    code,
    ...(details && { details }),
    requestId,
    ...toRateLimitMembers(fault),
    ...(secondFactor && { secondFactor }),
  };
}

function toErrorHeaders(error: unknown, fault: Fault): ResponseHeaders {
  const retryAfter = retryAfterOf(fault);
  const challenge = toChallenge(fault);
  return {
    ...(error instanceof MethodNotAllowed && { allow: error.allow }),
    ...(error instanceof RangeNotSatisfiable && { 'content-range': `bytes */${String(error.size)}` }),
    ...(challenge !== undefined && { 'www-authenticate': challenge }),
    ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
  };
}

/** The two errors of the pipeline that carry a header have no Fault of their own. */
function toClientFault(error: unknown): Fault {
  if (error instanceof MethodNotAllowed) return new Fault('METHOD_NOT_ALLOWED', error.message);
  if (error instanceof RangeNotSatisfiable) return new Fault('RANGE_NOT_SATISFIABLE', error.message);
  return toFault(error);
}
