/** Answers requests for a WebSocket that is not opened: one GraphQL error, as for every refused request. */
import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { ERRORS, type Fault } from '@trestle/schema/errors';
import type { HeaderList } from '@trestle/service/messages/response-headers';
import { toRequestId } from '@trestle/service/messages/request-id';
import { refuseUpgrade } from '@trestle/service/server/refuse-upgrade';
import { formatFault } from '../../errors/format-fault.ts';

/** A request for a WebSocket, and its connection. */
export interface SocketRequest {
  readonly request: IncomingMessage;
  readonly stream: Duplex;
}

/** Sends the error, with the status of its code and further headers, which for 429 have `Retry-After`, and closes the connection. */
export function refuseSocket({ request, stream }: SocketRequest, fault: Fault, further: HeaderList = []): void {
  const requestId = toRequestId(request.headers['x-request-id']);
  const { status } = ERRORS[fault.code];
  const { retryAfterSeconds } = fault;
  const retryAfter =
    fault.code === 'SERVICE_UNAVAILABLE' && retryAfterSeconds !== undefined ? ['retry-after', String(retryAfterSeconds)] : [];
  const headers = ['x-request-id', requestId, 'cache-control', 'no-store', ...retryAfter, ...further];
  refuseUpgrade(stream, `${String(status)} ${STATUS_CODES[status] ?? ''}`, {
    headers,
    body: JSON.stringify({ errors: [formatFault(fault, requestId)] }),
  });
}
