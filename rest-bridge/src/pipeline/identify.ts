/** Identifies the caller before anything else, because the rate limit depends on it. An invalid credential is reported by `admit` only. */
import type { Caller } from '@trestle/identity';
import type { ApiKeyExchange, Awaitable } from '@trestle/identity/credentials/api-key-exchange';
import { type Credential, readCredential } from '@trestle/identity/credentials/credential';
import type { TokenVerifier } from '@trestle/identity/verification/token-verifier';
import type { RateLimits } from '@trestle/limits/settings';
import { type Fault, fail, toFault } from '@trestle/schema/errors';
import { toClientHeaders } from '@trestle/service/clients/client-id';
import type { RequestContext } from './context.ts';

/** What credentials are checked with. */
export interface IdentifyDependencies {
  readonly verifier: TokenVerifier;
  /** Undefined for a bridge that accepts no API keys. */
  readonly apiKeys: ApiKeyExchange | undefined;
  readonly rateLimits: RateLimits;
}

/** The caller of a request, or the error of its credential. */
export interface Identity {
  /** Null for an anonymous caller, and for an invalid credential. */
  readonly caller: Caller | null;
  /** The credential for the gateway, which verifies it again. */
  readonly authorization: string | undefined;
  /** UNAUTHORIZED for an invalid credential, VALIDATION_ERROR for several, and what the exchange of an API key rejects with. */
  readonly error?: Fault;
}

/** The identity of a request without a credential. */
export const ANONYMOUS: Identity = { caller: null, authorization: undefined };

/** Returns the caller of a request, at once unless its API key must be exchanged for a token first, or the key of another issuer loaded. Never throws or rejects. */
export function identify(context: Pick<RequestContext, 'request' | 'urlKeys'>, dependencies: IdentifyDependencies): Awaitable<Identity> {
  const { request, urlKeys } = context;
  const accept = (token: string): Awaitable<Identity> => {
    const authorization = `Bearer ${token}`;
    const caller = dependencies.verifier.verifyOrWait(token);
    return caller instanceof Promise ? caller.then((arrived) => ({ caller: arrived, authorization })) : { caller, authorization };
  };
  const reject = (error: unknown): Identity => ({ ...ANONYMOUS, error: toFault(error) });
  try {
    const credential = readCredential({ rawHeaders: request.rawHeaders, urlKeys, method: request.method });
    if (credential === undefined) return ANONYMOUS;
    const token = toToken(credential, request, dependencies);
    const identity = typeof token === 'string' ? accept(token) : token.then(accept);
    return identity instanceof Promise ? identity.catch(reject) : identity;
  } catch (error) {
    return reject(error);
  }
}

/** Returns the access token of a credential; for an API key, one that the users subgraph issues. */
function toToken(credential: Credential, request: object, { apiKeys, rateLimits }: IdentifyDependencies): Awaitable<string> {
  if (credential.kind === 'bearer') return credential.value;
  if (apiKeys) return apiKeys.tokenFor(credential, { headers: toClientHeaders(request), reserve: () => rateLimits.reserve(request) });
  throw fail('UNAUTHORIZED', 'API keys are not accepted by this server. Send an access token.', { isInvalidCredential: true });
}
