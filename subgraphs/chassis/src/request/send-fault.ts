/** Sends a fault of a request that did not become an operation. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { ERRORS, type Fault } from '@trestle/schema/errors';
import { retryAfterOf } from '@trestle/schema/retry-after';
import { endBeforeBody } from '@trestle/service/http1/streamed-body';
import { toFaultExtensions } from './fault-extensions.ts';

/** Sends the fault as a GraphQL response without data, and closes the connection: the rest of the body may still follow. */
export function sendFault(
  { request, response }: { readonly request: IncomingMessage; readonly response: ServerResponse },
  fault: Fault,
  requestId: string,
): void {
  const { code, message } = fault;
  const body = JSON.stringify({ errors: [{ message, extensions: { code, requestId, ...toFaultExtensions(fault) } }] });
  const { status } = ERRORS[code];
  const retryAfter = retryAfterOf(fault);
  response.writeHead(status, {
    ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    'x-content-type-options': 'nosniff',
    connection: 'close',
  });
  endBeforeBody(request, response, body);
}
