/** Who is at the other end of a socket: one credential, from the upgrade's headers or from `connection_init`, good until its token ends. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { readBearerToken } from '@trestle/identity';
import type { TokenVerifier } from '@trestle/identity/tokens';
import { fail } from '@trestle/schema/errors';
import { type RequestContext, readRequestId } from './context.ts';

export interface Session {
  /** The context of one more operation, or of one more event. */
  createRequest(): RequestContext;
  /** Whether the token has ended since; if so, the socket has been told. */
  isOver(): boolean;
  /** Ends the watch over the token's end. */
  close(): void;
}

export interface SessionOptions {
  readonly verifier: TokenVerifier;
  /** Called when the token ends. */
  readonly onOver: () => void;
}

/** A token is good for a few seconds beyond its end, as clocks differ; so it is looked at again after this time. */
const LOOK_AGAIN_MS = 500;

/** Throws VALIDATION_ERROR for more than one credential, UNAUTHORIZED for one that is not valid. */
export function openSession(
  request: IncomingMessage,
  params: Readonly<Record<string, unknown>>,
  { verifier, onOver }: SessionOptions,
): Session {
  const token = readBearerToken([...request.rawHeaders, ...toRawHeaders(params)]);
  const caller = token === undefined ? null : verifier.verify(token);
  const requestId = readRequestId(params['x-request-id'] ?? request.headers['x-request-id']) ?? randomUUID();
  let timer: NodeJS.Timeout | undefined;
  const isOver = () => {
    if (token === undefined) return false;
    try {
      verifier.verify(token);
      return false;
    } catch {
      clearTimeout(timer);
      onOver();
      return true;
    }
  };
  const look = () => {
    if (!isOver()) timer = setTimeout(look, LOOK_AGAIN_MS);
  };
  if (caller) timer = setTimeout(look, Math.max(0, caller.expiresAt * 1000 - Date.now()));
  return {
    createRequest: () => ({ caller, requestId, denials: new Map(), idempotency: null }),
    isOver,
    close() {
      clearTimeout(timer);
    },
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
