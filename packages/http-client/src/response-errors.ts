/** Why the bytes of a response are refused. */
import { ClientError } from './upstream-client.ts';

/** Returns the error of a response that does not follow RFC 9112. */
export function invalid(message: string): ClientError {
  return new ClientError('INVALID_RESPONSE', message, { progress: 'responding' });
}

/** Returns the error of a response that exceeds a limit. */
export function tooLarge(message: string): ClientError {
  return new ClientError('RESPONSE_TOO_LARGE', message, { progress: 'responding' });
}
