/** What the end of a request says about the server that it was sent to: for the circuit breaker, and for the health of addresses. No I/O. */
import type { ClientErrorCode } from '@trestle/http-client/upstream-client';

/** `unknown`: the request says nothing about the server, such as one that was aborted. */
export type Outcome = 'success' | 'failure' | 'unknown';

/** What a proxy answers when its server is gone, and a server that is overloaded. */
const FAILED_STATUS: ReadonlySet<number> = new Set([502, 503, 504]);

/** The others have their cause in the gateway or in one operation: a full queue, a header that is not sent, a response that is too large. */
const FAILED_CODES: ReadonlySet<ClientErrorCode> = new Set(['UNREACHABLE', 'CONNECTION_LOST', 'TIMEOUT', 'INVALID_RESPONSE']);

/** Returns the outcome of a request that got a response with this status. */
export function outcomeOfStatus(status: number): Outcome {
  return FAILED_STATUS.has(status) ? 'failure' : 'success';
}

/** Returns the outcome of a request that got no response. */
export function outcomeOfError(code: ClientErrorCode): Outcome {
  return FAILED_CODES.has(code) ? 'failure' : 'unknown';
}
