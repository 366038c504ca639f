/** Identifies the caller of a request by its credential, and chooses the headers that go on to the subgraphs (spec §5.1). */
import type { IncomingMessage } from 'node:http';
import { readBearerToken } from '@trestle/identity';
import type { TokenVerifier } from '@trestle/identity/tokens';
import { fail } from '@trestle/schema/errors';
import { clientOf, toClientHeaders } from '@trestle/service/client-id';
import type { ContextSource, RequestContext } from './context.ts';
import type { ClientApplication } from './operation.ts';

export interface IdentifyOptions {
  /** Undefined for a gateway that leaves credentials to its subgraphs. */
  readonly verifier: TokenVerifier | undefined;
  /** Names, in lower case, of headers that go to the subgraphs unchanged. */
  readonly forwardHeaders: readonly string[];
}

export type Identity = Pick<RequestContext, 'caller' | 'identity'>;

export const ANONYMOUS: Identity = { caller: null, identity: [] };

/**
 * Identifies the caller. `params` replace headers of the same name, for clients that cannot set headers, such as browsers with a WebSocket.
 * Throws UNAUTHORIZED for an invalid credential, VALIDATION_ERROR for more than one, in headers and `params` together.
 */
export function identify(
  { headers, rawHeaders }: Pick<IncomingMessage, 'headers' | 'rawHeaders'>,
  { verifier, forwardHeaders }: IdentifyOptions,
  params?: ReadonlyMap<string, string>,
): Identity {
  const valueOf = (name: string) => params?.get(name) ?? headers[name];
  const sent = valueOf('authorization');
  const isAnonymous = sent === undefined && valueOf('x-api-key') === undefined;
  if (isAnonymous && forwardHeaders.length === 0) return ANONYMOUS;
  const token = isAnonymous || !verifier ? undefined : readBearerToken(params ? [...rawHeaders, ...[...params].flat()] : rawHeaders);
  const credential = verifier ? token && `Bearer ${token}` : sent;
  const identity = credential ? ['authorization', String(credential)] : [];
  for (const name of forwardHeaders) {
    const value = valueOf(name);
    if (value !== undefined) identity.push(name, String(value));
  }
  // Values of `params` did not pass an HTTP parser.
  if (params && !identity.every((value) => FIELD_VALUE.test(value)))
    throw fail('VALIDATION_ERROR', 'The payload of connection_init contains a value that is not allowed in an HTTP header.');
  return { caller: token !== undefined && verifier ? verifier.verify(token) : null, identity };
}

/** RFC 9110 §5.5 */
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const CREDENTIALS: ReadonlySet<string> = new Set(['authorization', 'x-api-key']);

/**
 * Returns the strings in the payload of `connection_init`, by name in lower case; a null credential counts as none.
 * Throws UNAUTHORIZED for a credential that is not a string, VALIDATION_ERROR for a credential that is sent twice.
 */
export function readConnectionParams(payload: unknown): ReadonlyMap<string, string> {
  const params = new Map<string, string>();
  for (const [key, value] of typeof payload === 'object' && payload !== null ? Object.entries(payload) : []) {
    const name = key.toLowerCase();
    const isCredential = CREDENTIALS.has(name);
    if (isCredential && typeof value !== 'string' && value !== null) throw fail('UNAUTHORIZED', `\`${name}\` must be a string.`);
    if (isCredential && params.has(name)) throw fail('VALIDATION_ERROR', 'Send exactly one credential');
    if (typeof value === 'string') params.set(name, value);
  }
  return params;
}

/** Returns the client that sent a request, for its context. */
export function readClient(request: IncomingMessage): Pick<ContextSource, 'client' | 'clientHeaders'> {
  return { client: clientOf(request), clientHeaders: toClientHeaders(request) };
}

/** Returns the application that a request names. */
export function readClientApplication({ headers }: Pick<IncomingMessage, 'headers'>): ClientApplication {
  return {
    name: headers['apollographql-client-name'] as string | undefined,
    version: headers['apollographql-client-version'] as string | undefined,
  };
}
