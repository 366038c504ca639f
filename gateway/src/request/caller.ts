/** Identifies the caller of a request by its credential, and chooses the headers that go on to the subgraphs (spec §5.1). */
import type { IncomingMessage } from 'node:http';
import type { ApiKeyExchange, Awaitable } from '@trestle/identity/credentials/api-key-exchange';
import { type Credential, readCredential } from '@trestle/identity/credentials/credential';
import type { TokenVerifier } from '@trestle/identity/verification/token-verifier';
import type { RateLimits } from '@trestle/limits/settings';
import type { IsAllowedOrigin } from '@trestle/service/edge/allowed-origin';
import { type Fault, fail, toFault } from '@trestle/schema/errors';
import { clientOf, toClientHeaders } from '@trestle/service/clients/client-id';
import type { ContextSource, RequestContext } from './context.ts';
import { isOfAllowedOrigin, isOfBrowser } from './foreign-origin.ts';
import { findMatchedHeaders } from './matched-headers.ts';
import type { ClientApplication } from './operation.ts';
import type { TokenFinder, TokenRequest } from './token-sources.ts';

export interface IdentifyOptions {
  /** Undefined for a gateway that leaves credentials to its subgraphs. */
  readonly verifier: TokenVerifier | undefined;
  /** Undefined for a gateway that accepts no API keys. */
  readonly apiKeys: ApiKeyExchange | undefined;
  readonly rateLimits: RateLimits;
  /** Whether requests without a credential are refused. */
  readonly isCredentialRequired: boolean;
  /** Finds tokens outside of `Authorization`. Default: they are nowhere else. */
  readonly tokens?: TokenFinder | undefined;
  readonly isAllowedOrigin: IsAllowedOrigin;
  /** Names, in lower case, of headers that go to the subgraphs unchanged; `Cookie` and `Origin` not from pages whose origin is not allowed. */
  readonly forwardHeaders: readonly string[];
  /** Returns whether a further header, by its name in lower case, goes to the subgraphs. Default: none does. */
  readonly isForwarded?: ((name: string) => boolean) | undefined;
  /** The name of a header that the server sets itself: no other place can replace it. Default: none. */
  readonly fixedHeader?: string | undefined;
}

export type Identity = Pick<RequestContext, 'caller' | 'identity'>;

const SCHEME = 'Bearer ';
const ANONYMOUS: Identity = { caller: null, identity: [] };

/** The parts of a request that may hold its credential. */
export type IdentifiedRequest = TokenRequest & Pick<IncomingMessage, 'rawHeaders'>;

/** Where a credential may stand besides the headers. */
export interface CredentialPlaces {
  /** Replace headers of the same name, for clients that cannot set headers, such as browsers with a WebSocket. */
  readonly params?: ReadonlyMap<string, string>;
  /** The API keys that were in the URL. */
  readonly urlKeys?: readonly string[];
}

/**
 * Identifies the caller, at once unless an API key must be exchanged for a token first, or the key of another issuer loaded. Throws or rejects with
 * UNAUTHORIZED for an invalid credential, and for a missing one that is required. VALIDATION_ERROR: more than one credential, wherever they are. Also
 * throws what {@link TokenFinder}, {@link findMatchedHeaders} and the exchange of an API key throw.
 */
export function identify(request: IdentifiedRequest, options: IdentifyOptions, places: CredentialPlaces = {}): Awaitable<Identity> {
  const { headers, rawHeaders, method } = request;
  const { verifier, isCredentialRequired, fixedHeader, tokens } = options;
  const { params, urlKeys = [] } = places;
  // A page chooses the payload of `connection_init`, but not its origin.
  const valueOf = (name: string) => (name === fixedHeader || name === 'origin' ? undefined : params?.get(name)) ?? headers[name];
  const hasApiKey = valueOf('x-api-key') !== undefined || urlKeys.length > 0;
  const found = tokens?.find(request, { valueOf, hasApiKey });
  // A token of another place counts in place of this header, and reaches the subgraphs as its value.
  const sent = found === undefined ? valueOf('authorization') : undefined;
  const isAnonymous = found === undefined && sent === undefined && !hasApiKey;
  if (isAnonymous && isCredentialRequired) throw fail('UNAUTHORIZED', 'A credential is required. Send an access token.');
  if (isAnonymous && options.forwardHeaders.length === 0 && !options.isForwarded) return ANONYMOUS;
  const forwarded = findForwarded(request, options, { valueOf, params });
  if (!verifier)
    return { caller: null, identity: checkValues([...(sent === undefined ? [] : ['authorization', String(sent)]), ...forwarded], params) };
  const toIdentity = (token: string): Awaitable<Identity> => {
    const header = toHeader(sent, token);
    const identity = checkValues(forwarded.length === 0 ? ['authorization', header] : ['authorization', header, ...forwarded], params);
    const caller = verifier.verifyOrWait(token);
    return caller instanceof Promise ? caller.then((arrived) => ({ caller: arrived, identity })) : { caller, identity };
  };
  if (found !== undefined) return toIdentity(found);
  const credential = isAnonymous
    ? undefined
    : readCredential({ rawHeaders: params ? [...rawHeaders, ...[...params].flat()] : rawHeaders, urlKeys, method });
  if (credential === undefined) return { caller: null, identity: checkValues(forwarded, params) };
  const token = toToken(credential, request, options);
  return typeof token === 'string' ? toIdentity(token) : token.then(toIdentity);
}

interface SentHeaders {
  readonly params: CredentialPlaces['params'];
  /** Returns a header, or what replaces it. */
  readonly valueOf: (name: string) => string | readonly string[] | undefined;
}

/** Returns the headers that go to the subgraphs, names and values in turn. Throws what {@link findMatchedHeaders} throws. */
function findForwarded(
  request: IdentifiedRequest,
  { forwardHeaders, isForwarded, isAllowedOrigin }: IdentifyOptions,
  { valueOf, params }: SentHeaders,
): string[] {
  const { headers } = request;
  const isForeign = headers.origin !== undefined && !isOfAllowedOrigin(request, isAllowedOrigin);
  const forwarded: string[] = [];
  for (const name of forwardHeaders) {
    const value = isForeign && isOfBrowser(name) ? undefined : valueOf(name);
    if (value !== undefined) forwarded.push(name, String(value));
  }
  if (!isForwarded) return forwarded;
  const names = params ? [...Object.keys(headers), ...params.keys()] : Object.keys(headers);
  // Patterns stand for neither `Cookie` nor `Origin`.
  forwarded.push(...findMatchedHeaders(names, { valueOf, isMatched: isForwarded, named: forwardHeaders }));
  return forwarded;
}

/** Returns the value that was sent, if it has this form: a string that was made now would be read and copied once more. */
function toHeader(sent: string | readonly string[] | undefined, token: string): string {
  const isSame = typeof sent === 'string' && sent.length === SCHEME.length + token.length && sent.startsWith(SCHEME);
  return isSame ? sent : `${SCHEME}${token}`;
}

/** An identified caller, or an anonymous one with the error of its credential. */
export interface Identification {
  readonly identity: Identity;
  /** What {@link identify} throws; undefined for a valid credential and for none. */
  readonly fault: Fault | undefined;
}

/** As {@link identify}; returns the error of a credential instead of throwing it. Never rejects. */
export function tryIdentify(request: IdentifiedRequest, options: IdentifyOptions, places?: CredentialPlaces): Awaitable<Identification> {
  const accept = (identity: Identity): Identification => ({ identity, fault: undefined });
  const reject = (error: unknown): Identification => ({ identity: ANONYMOUS, fault: toFault(error) });
  try {
    const identity = identify(request, options, places);
    return identity instanceof Promise ? identity.then(accept, reject) : accept(identity);
  } catch (error) {
    return reject(error);
  }
}

/** Returns the access token of a credential; for an API key, one that the users subgraph issues. */
function toToken(credential: Credential, request: object, { apiKeys, rateLimits }: IdentifyOptions): Awaitable<string> {
  if (credential.kind === 'bearer') return credential.value;
  if (apiKeys) return apiKeys.tokenFor(credential, { headers: toClientHeaders(request), reserve: () => rateLimits.reserve(request) });
  throw fail('UNAUTHORIZED', 'API keys are not accepted by this server. Send an access token.', { isInvalidCredential: true });
}

/** Returns the headers. Throws VALIDATION_ERROR for a value of `params`, which did not pass an HTTP parser, that no header may have. */
function checkValues(identity: readonly string[], params: CredentialPlaces['params']): readonly string[] {
  if (params && !identity.every((value) => FIELD_VALUE.test(value)))
    throw fail('VALIDATION_ERROR', 'The payload of connection_init contains a value that is not allowed in an HTTP header.');
  return identity;
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
    if (isCredential && typeof value !== 'string' && value !== null)
      throw fail('UNAUTHORIZED', `\`${name}\` must be a string.`, { isInvalidCredential: true });
    if (isCredential && params.has(name)) throw fail('VALIDATION_ERROR', 'Send exactly one credential.');
    if (typeof value === 'string') params.set(name, value);
  }
  return params;
}

/** Returns the client that sent a request, for its context. */
export function readClient(request: IncomingMessage): Pick<ContextSource, 'client' | 'clientHeaders'> {
  return { client: clientOf(request), clientHeaders: toClientHeaders(request) };
}

/** The request headers by which applications give their name and version. The first one that is sent counts. */
export const CLIENT_NAME_HEADERS = ['apollographql-client-name', 'x-graphql-client-name', 'graphql-client-name'] as const;
export const CLIENT_VERSION_HEADERS = ['apollographql-client-version', 'x-graphql-client-version', 'graphql-client-version'] as const;

/** Returns the application that a request names. */
export function readClientApplication({ headers }: Pick<IncomingMessage, 'headers'>): ClientApplication {
  return { name: findFirst(headers, CLIENT_NAME_HEADERS), version: findFirst(headers, CLIENT_VERSION_HEADERS) };
}

function findFirst(headers: IncomingMessage['headers'], names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = headers[name];
    // Only Set-Cookie is a list.
    if (value !== undefined) return value as string;
  }
  return undefined;
}
