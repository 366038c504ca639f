/** Answers requests for a WebSocket that is not opened: one GraphQL error, with the headers of every refused request. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { ERRORS, type Fault } from '@trestle/schema/errors';
import { retryAfterOf } from '@trestle/schema/retry-after';
import type { Edge } from '@trestle/service/edge/edge';
import { HSTS, isSecure } from '@trestle/service/http1/refusals';
import { type HeaderList, addedHeadersOf } from '@trestle/service/messages/response-headers';
import { toRequestId } from '@trestle/service/messages/request-id';
import { refuseUpgrade } from '@trestle/service/server/refuse-upgrade';
import { formatFault } from '../../errors/format-fault.ts';

/** A request for a WebSocket, and its connection. */
export interface SocketRequest {
  readonly request: IncomingMessage;
  readonly stream: Duplex;
  /** Adds the headers that every response has. */
  readonly prepare: Edge['prepare'];
}

/** Sends the error, with the status of its code and further headers, which for 429 have `Retry-After`, and closes the connection. */
export function refuseSocket({ request, stream, prepare }: SocketRequest, fault: Fault, further: HeaderList = []): void {
  const requestId = toRequestId(request.headers['x-request-id']);
  const { status } = ERRORS[fault.code];
  const response = {};
  prepare(request, response);
  const headers = {
    'x-request-id': requestId,
    'cache-control': 'no-store',
    ...(fault.code === 'SERVICE_UNAVAILABLE' && { 'retry-after': String(retryAfterOf(fault)) }),
    ...(isSecure(request.socket) && { 'strict-transport-security': HSTS }),
  };
  const added = [...addedHeadersOf(response, status), ...further];
  refuseUpgrade(stream, { status, headers, body: JSON.stringify({ errors: [formatFault(fault, requestId)] }) }, added);
}
