/**
 * The errors of the bridge itself at the endpoints of the authorization server that programs call: `error` and `error_description` (RFC 6749 §5.2),
 * which clients of OAuth read. No I/O.
 */
import { ERRORS, type ErrorCode } from '@trestle/schema/errors';
import type { Refusal, RefusalOptions, RefusalResponse } from '@trestle/service/http1/refusals';
import { UNVERSIONED, toVersionHeaders } from '../pipeline/locate.ts';
import { toRefusalResponse } from '../pipeline/render-error.ts';
import type { Versions } from '../versions/versions.ts';
import { matchOAuth } from './paths.ts';

/** The body of an error. */
export interface OAuthErrorBody {
  readonly error: 'invalid_request' | 'temporarily_unavailable' | 'server_error' | 'slow_down';
  readonly error_description: string;
}

/** An error of the bridge, as far as clients see it. */
interface ReportedError {
  readonly code: ErrorCode;
  readonly message: string;
}

/** Every character that `error_description` may have (RFC 6749 §5.2). */
const ALLOWED = /[^\x20-\x21\x23-\x5b\x5d-\x7e]/g;

/** Returns how the service itself responds: with the version of the path, which those of the authorization server do not have. */
export function createRefusals(versions: Versions): Pick<RefusalOptions, 'headersOf' | 'toRefusalResponse'> {
  return {
    headersOf: (url = '/') => (matchOAuth(url) ? UNVERSIONED : toVersionHeaders(versions, { url, headers: {} })),
    toRefusalResponse: toPathRefusalResponse,
  };
}

/** Returns the response to a request that was refused before anything read it; on all other paths the one of the API. */
function toPathRefusalResponse(refusal: Refusal): RefusalResponse {
  const isEndpoint = refusal.url !== undefined && matchOAuth(refusal.url)?.isEndpoint === true;
  return isEndpoint ? { body: toOAuthErrorBody(refusal) } : toRefusalResponse(refusal);
}

/**
 * Returns the body of an error. `isDevicePoll` is true for a device that asks for its token: such a client goes on after `slow_down` (RFC 8628 §3.5),
 * and takes any other error for the end of the flow.
 */
export function toOAuthErrorBody({ code, message }: ReportedError, isDevicePoll = false): OAuthErrorBody {
  return { error: toErrorName(code, isDevicePoll), error_description: message.replaceAll('"', "'").replace(ALLOWED, '?') };
}

function toErrorName(code: ErrorCode, isDevicePoll: boolean): OAuthErrorBody['error'] {
  if (code === 'RATE_LIMIT_EXCEEDED') return isDevicePoll ? 'slow_down' : 'temporarily_unavailable';
  if (code === 'SERVICE_UNAVAILABLE' || code === 'UPSTREAM_TIMEOUT') return 'temporarily_unavailable';
  // The client can change a request with an unknown method; all other statuses of 500 and more are not its fault.
  return ERRORS[code].status < 500 || code === 'NOT_IMPLEMENTED' ? 'invalid_request' : 'server_error';
}
