/** Where errors leave: the envelope of spec §7.1, or a problem document for those who take nothing else (RFC 9457). */
import { STATUS_CODES } from 'node:http';
import { ERRORS, type ErrorCode, Fault } from '@trestle/schema/errors';
import type { Refusal, RefusalAnswer } from '@trestle/service/refusals';
import { acceptedTypes } from '../http/body.ts';
import { VARY } from '../http/caching.ts';
import { DEFAULT_VERSION } from '../versions/versions.ts';
import { NotAllowed } from './match.ts';
import { wantsProblem } from './negotiate.ts';
import { type Exchange, Unsatisfiable, mergeHeaders, sendEncoded } from './render.ts';

/** Writes an error; what was not meant for the client becomes INTERNAL_ERROR. Gives the code for the log. */
export async function renderError(exchange: Exchange, error: unknown): Promise<ErrorCode> {
  const { request, response, requestId } = exchange;
  const fault = toFault(error);
  if (response.headersSent) {
    response.destroy();
    return fault.code;
  }
  const isProblem = wantsProblem(request.headers.accept);
  const body = isProblem ? toProblem(fault, requestId) : toEnvelope(fault, requestId);
  const headers = mergeHeaders(exchange.headers, {
    'content-type': `application/${isProblem ? 'problem+' : ''}json; charset=utf-8`,
    'cache-control': 'no-store',
    vary: VARY,
    ...toOwnHeaders(error, fault, request.method ?? 'GET'),
    // The rest of a body that nobody read is not worth reading: the connection ends.
    ...(!request.complete && { connection: 'close' }),
  });
  await sendEncoded(exchange, { status: ERRORS[fault.code].status, headers, content: JSON.stringify(body) });
  return fault.code;
}

/** What was refused before it was a request: nobody knows which version it would have asked for, and every answer names one (spec §9). */
export function toRefusalAnswer({ requestId, ...refusal }: Refusal): RefusalAnswer {
  return {
    body: toEnvelope(refusal, requestId),
    headers: { 'api-version': String(DEFAULT_VERSION), 'x-content-type-options': 'nosniff' },
  };
}

/** The envelope of spec §7.1. */
function toEnvelope({ code, message, details }: Omit<Refusal, 'requestId'> & { details?: Fault['details'] }, requestId: string): object {
  return { error: { code, message, ...(details && { details }), requestId } };
}

function toProblem({ code, message, details }: Fault, requestId: string): object {
  const { status } = ERRORS[code];
  return { type: 'about:blank', title: STATUS_CODES[status], status, detail: message, code, ...(details && { details }), requestId };
}

function toOwnHeaders(error: unknown, { code, retryAfterSeconds }: Fault, method: string): Record<string, string> {
  return {
    ...(error instanceof NotAllowed && { allow: error.allow }),
    ...(error instanceof Unsatisfiable && { 'content-range': `bytes */${String(error.size)}` }),
    ...(code === 'UNAUTHORIZED' && { 'www-authenticate': 'Bearer realm="api"' }),
    ...(code === 'UNSUPPORTED_MEDIA_TYPE' && { [method === 'PATCH' ? 'accept-patch' : 'accept-post']: acceptedTypes(method) }),
    ...(retryAfterSeconds !== undefined && { 'retry-after': String(retryAfterSeconds) }),
  };
}

function toFault(error: unknown): Fault {
  if (error instanceof Fault) return error;
  if (error instanceof NotAllowed) return new Fault('METHOD_NOT_ALLOWED', error.message);
  if (error instanceof Unsatisfiable) return new Fault('RANGE_NOT_SATISFIABLE', error.message);
  return new Fault('INTERNAL_ERROR', 'Something went wrong on our side');
}
