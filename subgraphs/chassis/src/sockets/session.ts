/** The session of a socket: one credential, from the headers of the upgrade or from `connection_init`, valid until its token expires or is revoked. */
import type { IncomingMessage } from 'node:http';
import { readBearerToken } from '@trestle/identity/credentials/credential';
import type { TokenVerifier } from '@trestle/identity/verification/token-verifier';
import { fail } from '@trestle/schema/errors';
import { toRequestId } from '@trestle/service/messages/request-id';
import type { RequestContext } from '../request/context.ts';

/** The session of a socket. */
export interface Session {
  /** Creates the context of an operation, or of one event of a subscription. */
  readonly createRequest: () => RequestContext;
  /** Returns whether the token has expired or was revoked; if so, `onInvalid` has been called. */
  readonly isInvalid: () => boolean;
  /** Stops watching the token. */
  readonly close: () => void;
}

/** How a session checks its token. */
export interface SessionOptions {
  readonly verifier: TokenVerifier;
  /** Returns whether the socket is closed. */
  readonly isClosed: () => boolean;
  /** Called once, when the token expires or is revoked. */
  readonly onInvalid: () => void;
}

/** Creates the session of a socket. Throws VALIDATION_ERROR for more than one credential, UNAUTHORIZED for an invalid one. */
export function openSession(
  request: IncomingMessage,
  params: Readonly<Record<string, unknown>>,
  { verifier, isClosed, onInvalid }: SessionOptions,
): Session {
  const token = readBearerToken([...request.rawHeaders, ...toRawHeaders(params)]);
  const caller = token === undefined ? null : verifier.verify(token);
  const requestId = toRequestId(params['x-request-id'] ?? request.headers['x-request-id']);
  const state = { isInvalid: false };
  const invalidate = () => {
    state.isInvalid = true;
    onInvalid();
  };
  const unwatch = caller ? verifier.watch(caller, invalidate) : () => undefined;
  return {
    createRequest: () => ({ caller, requestId, denials: new Map(), idempotency: null, isAbandoned: isClosed }),
    isInvalid() {
      if (!state.isInvalid && caller && !verifier.isValid(caller)) {
        unwatch();
        invalidate();
      }
      return state.isInvalid;
    },
    close: unwatch,
  };
}

/** Returns the credentials of the payload as headers, so that they are counted and parsed like headers. */
function toRawHeaders(params: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(params).flatMap(([name, value]) => {
    if (name !== 'authorization' && name !== 'Authorization') return [];
    if (typeof value !== 'string') throw fail('VALIDATION_ERROR', `\`${name}\` must be a string.`);
    return [name, value];
  });
}
