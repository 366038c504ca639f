/** Why requests are refused before any handler sees them. */
import type { ErrorCode } from '@trestle/schema/errors';

/** Why a request is refused: the code decides the status, the message is for the client. */
export interface Reason {
  readonly code: ErrorCode;
  readonly message: string;
  /** Seconds after which the client may send the request again. */
  readonly retryAfterSeconds?: number;
}

/** The method is none of those that Node's parser knows. */
export const UNKNOWN_METHOD: Reason = { code: 'NOT_IMPLEMENTED', message: 'The server does not support the request method.' };
/** The headers or the body exceeded a limit of time or rate. */
export const TOO_SLOW: Reason = { code: 'REQUEST_TIMEOUT', message: 'The request did not arrive completely in time. Send it again.' };
/** All headers together exceed their limit. */
export const HEADERS_TOO_LARGE: Reason = {
  code: 'REQUEST_HEADER_FIELDS_TOO_LARGE',
  message: 'The request headers are too large. Send fewer or shorter headers.',
};
/** The request breaks the syntax or framing of HTTP. */
export const MALFORMED: Reason = { code: 'VALIDATION_ERROR', message: 'The request is not well-formed HTTP.' };
/** The method is CONNECT (RFC 9110 §9.3.6). */
export const NO_PROXY: Reason = { code: 'NOT_IMPLEMENTED', message: 'CONNECT is not supported: the server is not a proxy.' };
/** A client has too many waiting requests. */
export const TOO_MANY: Reason = {
  code: 'SERVICE_UNAVAILABLE',
  message: 'Too many requests of one client are waiting. Retry after the number of seconds in Retry-After.',
  retryAfterSeconds: 1,
};
/** The event loop of the process is late. */
export const OVERLOADED: Reason = {
  code: 'SERVICE_UNAVAILABLE',
  message: 'The server is overloaded. Retry later.',
  retryAfterSeconds: 2,
};
/** `Expect` has another value than `100-continue` (RFC 9110 §10.1.1). */
export const BAD_EXPECTATION: Reason = { code: 'VALIDATION_ERROR', message: 'Expect must be 100-continue or absent.' };
