/** Who is calling and what is told to the subgraphs, by the request's own headers and nothing else (spec §5.1). */
import type { IncomingMessage } from 'node:http';
import { randomUUID } from 'node:crypto';
import { readBearerToken } from '@trestle/identity';
import type { TokenVerifier } from '@trestle/identity/tokens';
import type { EngineContext } from './engine.ts';
import { readIdempotencyHeaders } from './idempotency.ts';
import type { RequestTrace } from './tracing.ts';
import { createTrail } from './trail.ts';

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The client's own id when it is a UUID, else a new one (spec §1). */
export function readRequestId({ headers }: IncomingMessage): string {
  const sent = headers['x-request-id'];
  return typeof sent === 'string' && UUID.test(sent) ? sent : randomUUID();
}

export interface CallerOptions {
  /** Undefined for a gateway that leaves credentials to its subgraphs. */
  readonly verifier: TokenVerifier | undefined;
  /** Headers, in lower case, that go to the subgraphs as they came. */
  readonly forwardHeaders: readonly string[];
  readonly requestId: string;
  readonly trace: RequestTrace | undefined;
}

/** Throws UNAUTHORIZED for an invalid credential, VALIDATION_ERROR for more than one or for an Idempotency-Key that is none. */
export function readContext(request: IncomingMessage, { verifier, forwardHeaders, requestId, trace }: CallerOptions): EngineContext {
  const { authorization } = request.headers;
  const isAnonymous = authorization === undefined && request.headers['x-api-key'] === undefined;
  const token = isAnonymous || !verifier ? undefined : readBearerToken(request.rawHeaders);
  const credential = verifier ? token && `Bearer ${token}` : authorization;
  const headers = ['content-type', 'application/json', 'accept', 'application/json', 'x-request-id', requestId];
  if (credential) headers.push('authorization', credential);
  for (const name of forwardHeaders) {
    const value = request.headers[name];
    if (value !== undefined) headers.push(name, String(value));
  }
  return {
    caller: token !== undefined && verifier ? verifier.verify(token) : null,
    requestId,
    headers,
    mutationHeaders: readIdempotencyHeaders(request.headers),
    trail: createTrail(),
    trace,
  };
}
