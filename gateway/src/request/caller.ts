/** Who is calling and what is told to the subgraphs, by the request's own headers and nothing else (spec §5.1). */
import type { IncomingMessage } from 'node:http';
import { randomUUID } from 'node:crypto';
import { readBearerToken } from '@trestle/identity';
import type { TokenVerifier } from '@trestle/identity/tokens';
import { fail } from '@trestle/schema/errors';
import { clientOf, toClientHeaders } from '@trestle/service/client-id';
import type { Scope } from '@trestle/telemetry';
import type { EngineContext } from '../engines/engine.ts';
import { readIdempotencyHeaders } from './idempotency.ts';
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
  readonly trace: Scope | undefined;
}

/** Throws UNAUTHORIZED for an invalid credential, VALIDATION_ERROR for more than one or for an Idempotency-Key that is none. */
export function readContext(request: IncomingMessage, options: CallerOptions): EngineContext {
  const { caller, identity } = identify(request, options);
  const { requestId, trace } = options;
  const mutationHeaders = readIdempotencyHeaders(request.headers);
  return createContext({ caller, ...readClient(request), identity, requestId, mutationHeaders, trace });
}

export type Identity = Pick<EngineContext, 'caller' | 'identity'>;

/**
 * Who is asking. `params` stand for headers that a client could not send, as a browser can't with a WebSocket; names in any case.
 * Throws UNAUTHORIZED for an invalid credential, VALIDATION_ERROR for more than one, wherever they stand.
 */
export function identify(
  { headers, rawHeaders }: Pick<IncomingMessage, 'headers' | 'rawHeaders'>,
  { verifier, forwardHeaders }: Pick<CallerOptions, 'verifier' | 'forwardHeaders'>,
  params?: ReadonlyMap<string, string>,
): Identity {
  const valueOf = (name: string) => params?.get(name) ?? headers[name];
  const sent = valueOf('authorization');
  const isAnonymous = sent === undefined && valueOf('x-api-key') === undefined;
  if (isAnonymous && forwardHeaders.length === 0) return NOBODY;
  const token = isAnonymous || !verifier ? undefined : readBearerToken(params ? [...rawHeaders, ...[...params].flat()] : rawHeaders);
  const credential = verifier ? token && `Bearer ${token}` : sent;
  const identity = credential ? ['authorization', String(credential)] : [];
  for (const name of forwardHeaders) {
    const value = valueOf(name);
    if (value !== undefined) identity.push(name, String(value));
  }
  // Values of `params` did not pass an HTTP parser.
  if (params && !identity.every((value) => FIELD_VALUE.test(value)))
    throw fail('VALIDATION_ERROR', 'The payload of connection_init has a value that is not fit for an HTTP header');
  return { caller: token !== undefined && verifier ? verifier.verify(token) : null, identity };
}

/** RFC 9110 §5.5 */
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const CREDENTIALS: ReadonlySet<string> = new Set(['authorization', 'x-api-key']);

/**
 * Returns the strings in the payload of `connection_init`, by name in lower case. Throws UNAUTHORIZED for a credential that is not a string,
 * VALIDATION_ERROR for a credential that is there twice. Null stands for no credential.
 */
export function readConnectionParams(payload: unknown): ReadonlyMap<string, string> {
  const params = new Map<string, string>();
  for (const [key, value] of typeof payload === 'object' && payload !== null ? Object.entries(payload) : []) {
    const name = key.toLowerCase();
    const isCredential = CREDENTIALS.has(name);
    if (isCredential && typeof value !== 'string' && value !== null) throw fail('UNAUTHORIZED', `${name} must be a string`);
    if (isCredential && params.has(name)) throw fail('VALIDATION_ERROR', 'Send exactly one credential');
    if (typeof value === 'string') params.set(name, value);
  }
  return params;
}

const NOBODY: Identity = { caller: null, identity: [] };

interface ClientKnown {
  readonly client: string | undefined;
  /** What tells subgraphs of ours whose request it is. */
  readonly clientHeaders?: readonly string[];
}

/** Returns whose request it is, for {@link createContext}. */
export function readClient(request: IncomingMessage): ClientKnown {
  return { client: clientOf(request), clientHeaders: toClientHeaders(request) };
}

/** The context of one operation by somebody who is known already. */
export function createContext(
  known: Pick<EngineContext, 'caller' | 'identity' | 'requestId' | 'mutationHeaders' | 'trace'> & ClientKnown,
): EngineContext {
  const { caller, client, clientHeaders = [], identity, requestId, mutationHeaders, trace } = known;
  const headers = ['content-type', 'application/json', 'accept', 'application/json', 'x-request-id', requestId];
  for (const each of identity) headers.push(each);
  for (const each of clientHeaders) headers.push(each);
  return { caller, client, requestId, headers, identity, mutationHeaders, trail: createTrail(), trace };
}
