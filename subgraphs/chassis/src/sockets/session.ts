/** Who is at the other end of a socket: one credential, from the upgrade's headers or from `connection_init`, good until its token ends or is revoked. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { readBearerToken } from '@trestle/identity';
import type { TokenVerifier } from '@trestle/identity/tokens';
import { fail } from '@trestle/schema/errors';
import { type RequestContext, readRequestId } from '../request/context.ts';

export interface Session {
  /** The context of one more operation, or of one more event. */
  readonly createRequest: () => RequestContext;
  /** Whether the token has ended since, or was revoked; if so, the socket has been told. */
  readonly isOver: () => boolean;
  /** Ends the watch over the token. */
  readonly close: () => void;
}

export interface SessionOptions {
  readonly verifier: TokenVerifier;
  /** Called once, when the token ends or is revoked. */
  readonly onOver: () => void;
}

/** Throws VALIDATION_ERROR for more than one credential, UNAUTHORIZED for one that is not valid. */
export function openSession(
  request: IncomingMessage,
  params: Readonly<Record<string, unknown>>,
  { verifier, onOver }: SessionOptions,
): Session {
  const token = readBearerToken([...request.rawHeaders, ...toRawHeaders(params)]);
  const caller = token === undefined ? null : verifier.verify(token);
  const requestId = readRequestId(params['x-request-id'] ?? request.headers['x-request-id']) ?? randomUUID();
  const state = { isOver: false };
  const over = () => {
    state.isOver = true;
    onOver();
  };
  const ignore = caller ? verifier.watch(caller, over) : () => undefined;
  const isOver = () => {
    if (!state.isOver && caller && !verifier.isValid(caller)) {
      ignore();
      over();
    }
    return state.isOver;
  };
  return {
    createRequest: () => ({ caller, requestId, denials: new Map(), idempotency: null }),
    isOver,
    close: ignore,
  };
}

/** The payload's credentials as headers, so that they are counted and read as those are. */
function toRawHeaders(params: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(params).flatMap(([name, value]) => {
    if (name !== 'authorization' && name !== 'Authorization') return [];
    if (typeof value !== 'string') throw fail('VALIDATION_ERROR', 'A credential must be text');
    return [name, value];
  });
}
