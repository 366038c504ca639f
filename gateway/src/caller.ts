/** Who is calling and what is told to the subgraphs, by the request's own headers and nothing else (spec §5.1). */
import type { IncomingMessage } from 'node:http';
import { randomUUID } from 'node:crypto';
import { readBearerToken } from '@trestle/identity';
import type { TokenVerifier } from '@trestle/identity/tokens';
import type { EngineContext } from './engine.ts';
import { readIdempotencyHeaders } from './idempotency.ts';
import { createTrail } from './trail.ts';

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The client's own id when it is a UUID, else a new one (spec §1). */
export function readRequestId({ headers }: IncomingMessage): string {
  const sent = headers['x-request-id'];
  return typeof sent === 'string' && UUID.test(sent) ? sent : randomUUID();
}

/** Throws UNAUTHORIZED for an invalid credential, VALIDATION_ERROR for more than one or for an Idempotency-Key that is none. */
export function readContext(
  request: IncomingMessage,
  { verifier, requestId }: { verifier: TokenVerifier; requestId: string },
): EngineContext {
  const token = readBearerToken(request.rawHeaders);
  return {
    caller: token === undefined ? null : verifier.verify(token),
    authorization: token === undefined ? undefined : `Bearer ${token}`,
    requestId,
    mutationHeaders: readIdempotencyHeaders(request.headers),
    trail: createTrail(),
  };
}
