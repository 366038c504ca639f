/**
 * The access tokens of the authorization server. They are the system's own JWTs (RFC 9068), so that every process verifies them: the
 * library's opaque token is never sent and never stored. The session of a token (`sid`) is its grant, or its client where no user takes
 * part, so that the end of either revokes it everywhere.
 */
import type { Caller } from '@trestle/identity';
import type { TokenGrant, TokenIssuer } from '@trestle/identity/tokens/tokens';
import type { TokenVerifier } from '@trestle/identity/verification/token-verifier';
import { type AccessToken, type AdapterPayload, type ClientCredentials, errors } from 'oidc-provider';
import type { ClientStore } from './client-store.ts';
import { decodeJwt } from './jwt-lookup.ts';
import { OAUTH_SCOPES, toApiScopes } from './scopes.ts';

/** What a token says of its account. */
export type TokenAccount = Pick<TokenGrant, 'id' | 'role' | 'tokenGeneration' | 'plan' | 'requestsPerMinute'>;

/** What the tokens are made from. */
export interface AccessTokenOptions {
  readonly issuer: TokenIssuer;
  readonly verifier: Pick<TokenVerifier, 'verify'>;
  readonly clients: ClientStore;
  /** Resolves with what a token says of an account; undefined without an active account. */
  readonly findAccount: (userId: string) => Promise<TokenAccount | undefined>;
  /** Returns the token generation of an account as the request has read it with its code, refresh token or device code. */
  readonly generationOf: (accountId: string) => number | undefined;
  /** Revokes one token everywhere. */
  readonly revokeToken: (userId: string, tokenId: string) => Promise<void>;
}

/** Issues, finds and revokes access tokens. */
export interface AccessTokens {
  /** Issues the JWT for a token of the library. `asked` is the scope of the request. Throws the OAuth error that the client gets. */
  issue(token: AccessToken | ClientCredentials, asked: unknown): Promise<void>;
  /** Returns the JWT that was issued for a token of the library. */
  issued(token: AccessToken | ClientCredentials | undefined): IssuedToken | undefined;
  /** Finds what the library asks for: the payload of a valid JWT of a client. */
  find(kind: 'AccessToken' | 'ClientCredentials', token: string): Promise<AdapterPayload | undefined>;
  /** Revokes a JWT. Does nothing when it is not valid. */
  revoke(token: string): Promise<void>;
}

/** A JWT as the token endpoint sends it. */
interface IssuedToken {
  readonly token: string;
  readonly expiresInSeconds: number;
  readonly scope: string;
}

const OPENID = new Set(['openid', 'profile', 'email']);

/** Creates them. */
export function createAccessTokens(options: AccessTokenOptions): AccessTokens {
  const issued = new WeakMap<object, IssuedToken>();
  const verify = (token: string): Caller | undefined => {
    try {
      return options.verifier.verify(decodeJwt(token));
    } catch {
      return undefined;
    }
  };
  return {
    async issue(token, asked) {
      rejectUnknownScopes(asked);
      issued.set(token, await issue(token, options));
    },
    issued: (token) => token && issued.get(token),
    find: (kind, token) => {
      const caller = verify(token);
      return Promise.resolve(caller && toPayload(kind, token, caller));
    },
    async revoke(token) {
      const caller = verify(token);
      if (caller) await options.revokeToken(caller.userId, caller.tokenId);
    },
  };
}

async function issue(
  token: AccessToken | ClientCredentials,
  { issuer, clients, findAccount, generationOf }: AccessTokenOptions,
): Promise<IssuedToken> {
  const clientId = token.clientId ?? '';
  const client = await clients.find(clientId);
  if (!client) throw new errors.InvalidClient('client not found');
  const { accountId, grantId } = token as Partial<Pick<AccessToken, 'accountId' | 'grantId'>>;
  const isOfUser = accountId !== undefined;
  const asked = [...token.scopes].filter((scope) => scope !== '');
  const scopes = isOfUser || asked.length > 0 ? asked : client.scopes.filter((scope) => !OPENID.has(scope));
  const account = await findAccount(accountId ?? client.ownerId);
  if (!account) throw new errors.InvalidGrant('the account does not exist or is not active');
  // What the client has sent ended with the generation that it was given in, and so did its grant.
  if (isOfUser && account.tokenGeneration !== generationOf(accountId)) throw new errors.InvalidGrant('the account was changed');
  const sessionId = isOfUser ? grantId : clientId;
  if (sessionId === undefined) throw new errors.InvalidGrant('the token belongs to no grant');
  const granted = scopes.filter((scope) => client.scopes.includes(scope));
  const allowed = toApiScopes(granted);
  // Which claims of the account this token reads at the endpoint of OpenID: the grant may have more.
  const claims = isOfUser ? granted.filter((scope) => OPENID.has(scope)) : [];
  const { token: jwt, expiresInSeconds } = issuer.issue({ ...account, sessionId, clientId, scopes: new Set([...allowed, ...claims]) });
  return { token: jwt, expiresInSeconds, scope: isOfUser ? scopes.join(' ') : allowed.join(' ') };
}

/** The library leaves unknown scopes out, and a token without any would get all of its client. */
function rejectUnknownScopes(asked: unknown): void {
  const unknown = typeof asked === 'string' ? asked.split(' ').find((scope) => scope !== '' && !OAUTH_SCOPES.includes(scope)) : undefined;
  if (unknown !== undefined) throw new errors.InvalidScope('requested scope is not allowed', unknown);
}

/** Returns a token as the library reads it; undefined for one of another kind, or of no client. */
function toPayload(
  kind: 'AccessToken' | 'ClientCredentials',
  token: string,
  { clientId, sessionId, userId, expiresAt, scopes }: Caller,
): AdapterPayload | undefined {
  if (!clientId || sessionId === null) return undefined;
  const isOfClient = sessionId === clientId;
  if (isOfClient !== (kind === 'ClientCredentials')) return undefined;
  const payload = { kind, jti: token, clientId, exp: expiresAt, scope: [...scopes].join(' ') };
  return isOfClient ? payload : { ...payload, accountId: userId, grantId: sessionId };
}
