/** Stage 6: the one place where answers leave, and the one where errors do (spec §7.1). No I/O but the writing. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { ERRORS, type ErrorCode, Fault } from '@trestle/schema/errors';
import { VARY, toCacheControl } from '../http/caching.ts';
import { isNotModified, matchesStrongly, toEtag } from '../http/conditional.ts';
import type { Outcome } from '../routes/row.ts';
import type { PartialError } from './call.ts';
import { NotAllowed, type Shortcut } from './match.ts';

const JSON_TYPE = 'application/json; charset=utf-8';
const VERSION = '1';

export interface Rendering {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
}

export interface Rendered extends Outcome {
  readonly isRead: boolean;
  readonly isAnonymous: boolean;
  readonly errors: readonly PartialError[];
}

/** Writes an answer with its tag, or 304 or 412 in its place where the request was conditional (RFC 9110 §13.2.2). */
export function render({ request, response, requestId }: Rendering, rendered: Rendered): void {
  const { status, body, version, headers, isRead, isAnonymous, errors } = rendered;
  const common = {
    ...toCommonHeaders(requestId),
    'cache-control': toCacheControl({ isRead, isAnonymous, isWhole: errors.length === 0 }),
    vary: VARY,
    ...headers,
  };
  if (body === undefined) {
    response.writeHead(status, common).end();
    return;
  }
  const bytes = Buffer.from(JSON.stringify(errors.length > 0 ? { ...body, _errors: errors } : body));
  if (!isRead && version === undefined) {
    send(request, response, { status, headers: common, bytes });
    return;
  }
  const etag = toEtag(bytes, version);
  const tagged = { ...common, etag };
  if (isRead && !matchesStrongly(request.headers['if-match'], etag)) {
    renderError({ request, response, requestId }, new Fault('PRECONDITION_FAILED', 'The resource has another version than expected'));
  } else if (isRead && errors.length === 0 && isNotModified(request.headers['if-none-match'], etag)) {
    response.writeHead(304, tagged).end();
  } else {
    send(request, response, { status, headers: tagged, bytes });
  }
}

/** Writes what needs no row: a redirect, or the methods of a path. */
export function renderShortcut({ response, requestId }: Rendering, { status, headers }: Shortcut): void {
  response.writeHead(status, { ...toCommonHeaders(requestId), 'content-length': '0', ...headers }).end();
}

/** Writes an error in the envelope; what was not meant for the client becomes INTERNAL_ERROR. Gives the code for the log. */
export function renderError({ request, response, requestId }: Rendering, error: unknown): ErrorCode {
  const fault = toFault(error);
  const { code, message, details } = fault;
  if (response.headersSent) {
    response.destroy();
    return code;
  }
  const bytes = Buffer.from(JSON.stringify({ error: { code, message, ...(details && { details }), requestId } }));
  const headers = {
    ...toCommonHeaders(requestId),
    'cache-control': 'no-store',
    vary: VARY,
    ...(error instanceof NotAllowed && { allow: error.allow }),
    ...(code === 'UNAUTHORIZED' && { 'www-authenticate': 'Bearer realm="api"' }),
    // The rest of a body that was refused is not worth reading.
    ...(code === 'PAYLOAD_TOO_LARGE' && { connection: 'close' }),
  };
  send(request, response, { status: ERRORS[code].status, headers, bytes });
  return code;
}

function send(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, bytes }: { status: number; headers: Record<string, string>; bytes: Buffer },
): void {
  response.writeHead(status, { 'content-type': JSON_TYPE, 'content-length': String(bytes.length), ...headers });
  response.end(request.method === 'HEAD' ? undefined : bytes);
}

function toCommonHeaders(requestId: string): Record<string, string> {
  return { 'x-request-id': requestId, 'api-version': VERSION, 'x-content-type-options': 'nosniff' };
}

function toFault(error: unknown): Fault {
  if (error instanceof Fault) return error;
  if (error instanceof NotAllowed) return new Fault('METHOD_NOT_ALLOWED', error.message);
  return new Fault('INTERNAL_ERROR', 'Something went wrong on our side');
}
