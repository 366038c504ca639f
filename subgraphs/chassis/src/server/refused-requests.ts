/** The responses to requests that never become operations: bodies that cannot be read, and unknown paths. Express's own are HTML with stacks. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Log } from '@trestle/log';
import { type ErrorCode, type Fault, fail, toFault } from '@trestle/schema/errors';
import type { ErrorRequestHandler, RequestHandler } from 'express';
import { sendFault } from '../request/send-fault.ts';
import { reportOf } from './request-telemetry.ts';

/** The errors of `express.json`, by their `type`. Its messages are not used: they quote the request. */
const BODY_FAULTS: Readonly<Record<string, { readonly code: ErrorCode; readonly message: string }>> = {
  'entity.too.large': { code: 'PAYLOAD_TOO_LARGE', message: 'The request body is too large.' },
  'charset.unsupported': { code: 'UNSUPPORTED_MEDIA_TYPE', message: 'The request body must be encoded in UTF-8.' },
  'encoding.unsupported': { code: 'UNSUPPORTED_MEDIA_TYPE', message: 'Content-Encoding must be gzip, deflate or br.' },
};
const UNREADABLE = { code: 'VALIDATION_ERROR', message: 'The request body is not well-formed JSON in UTF-8.' } as const;

/** Checks a body before `express.json` parses it; for its option `verify`. Throws for bytes that are not UTF-8, which would be replaced. */
export function requireUtf8(_request: unknown, _response: unknown, bytes: Buffer): void {
  UTF_8.decode(bytes);
}

/** Returns the object or list that a body states. Throws VALIDATION_ERROR for anything else, as `express.json` does. */
export function parseBody(bytes: Buffer): object {
  try {
    const body: unknown = JSON.parse(UTF_8.decode(bytes));
    if (typeof body === 'object' && body !== null) return body;
  } catch {
    // The message of the parser would quote the request.
  }
  throw fail(UNREADABLE.code, UNREADABLE.message);
}

const UTF_8 = new TextDecoder('utf-8', { fatal: true });

/** Answers 404 to a path that nothing serves. */
export const refuseUnknownPath: RequestHandler = (request, response) => {
  const fault = fail('NOT_FOUND', 'The path does not exist. GraphQL is served at /graphql.');
  sendFault({ request, response }, fault, reportOf(response).requestId);
};

/** An exchange whose response has a report. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse & Parameters<typeof reportOf>[0];
}

/** Creates the middleware that answers a request that a middleware before it has refused: coded, and logged if it is unexpected. */
export function createErrorHandler(log: Log): ErrorRequestHandler {
  // Express recognises an error handler by its four parameters.
  // eslint-disable-next-line size/max-params -- Express passes the error as the first of four
  return (error: unknown, request, response, next) => {
    // Express then closes the connection.
    if (response.headersSent) next(error);
    else refuse({ request, response }, error, log);
  };
}

/** Answers a request that was refused by an error: coded, and logged if it is unexpected. The response must not have begun. */
export function refuse({ request, response }: Exchange, error: unknown, log: Log): void {
  const fault = toBodyFault(error) ?? toFault(error);
  const { requestId } = reportOf(response);
  if (fault.code === 'INTERNAL_ERROR') log.error('request failed', { requestId, error: fault.cause });
  sendFault({ request, response }, fault, requestId);
}

/** Returns the fault of an error of `express.json`, which has a status of 4xx; undefined for any other error. */
function toBodyFault(error: unknown): Fault | undefined {
  const { type, status } = error as { type?: unknown; status?: unknown };
  if (typeof status !== 'number' || status < 400 || status >= 500) return undefined;
  const { code, message } = BODY_FAULTS[String(type)] ?? UNREADABLE;
  return fail(code, message);
}
