/** Errors of the door, before there is an answer; they have the shape of GraphQL errors, as those of the engine do. */
import type { Log } from '@trestle/log';
import { ERRORS, type ErrorCode, Fault, fail } from '@trestle/schema/errors';
import type { Refusal, RefusalAnswer } from '@trestle/service/refusals';
import { PersistedQueryNotFound } from '../../documents/documents.ts';
import { chooseMediaType } from './media-type.ts';
import { type Head, sendText } from './send.ts';
import type { Visit } from './visit.ts';

export const ALLOW = 'GET, HEAD, POST, PUT, DELETE, OPTIONS';
export const CHALLENGE = { 'www-authenticate': 'Bearer realm="api"' };

export function sendRefusal(visit: Visit, { error, log }: { error: unknown; log: Log }): void {
  const { request, response, requestId } = visit;
  const fault = error instanceof Fault ? error : fail('INTERNAL_ERROR', 'Something went wrong on our side');
  if (!(error instanceof Fault)) log.error('request failed', { requestId, error });
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const own: Partial<Record<ErrorCode, Head>> = {
    METHOD_NOT_ALLOWED: { allow: ALLOW },
    UNAUTHORIZED: CHALLENGE,
    UNSUPPORTED_MEDIA_TYPE: { 'accept-post': 'application/json' },
  };
  const extensions = { code: fault.code, ...(fault.details && { details: fault.details }), requestId };
  const contentType = chooseMediaType(request.headers.accept)?.contentType ?? 'application/json; charset=utf-8';
  sendText(visit, {
    status: fault instanceof PersistedQueryNotFound ? 200 : ERRORS[fault.code].status,
    // The rest of a body that nobody read is not worth reading: the connection ends.
    head: { 'content-type': contentType, ...own[fault.code], ...(!request.complete && { connection: 'close' }) },
    text: JSON.stringify({ errors: [{ message: fault.message, extensions }] }),
  });
}

/** What was refused before it was a request is told as GraphQL tells errors. */
export function toRefusalAnswer({ code, message, requestId }: Refusal): RefusalAnswer {
  return { body: { errors: [{ message, extensions: { code, requestId } }] }, headers: { 'x-content-type-options': 'nosniff' } };
}
