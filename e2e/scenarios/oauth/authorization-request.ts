/** The authorization requests that the scenarios send (RFC 6749 §4.1.1), with PKCE (RFC 7636). */
import { createHash } from 'node:crypto';
import { CALLBACK } from './oauth-system.ts';

export const VERIFIER = 'v'.repeat(43);
export const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url');

/** Parameters beside or instead of the usual ones; undefined leaves a parameter out. */
export type RequestParameters = Readonly<Record<string, string | undefined>>;

/** Returns the parameters of a request of a client, which redirects to CALLBACK with a code. */
export function authorizationParameters(clientId: string, changes: RequestParameters = {}): URLSearchParams {
  const all: RequestParameters = {
    ...{ client_id: clientId, redirect_uri: CALLBACK, response_type: 'code', scope: 'openid', state: 'a state' },
    ...{ code_challenge: CHALLENGE, code_challenge_method: 'S256' },
    ...changes,
  };
  return new URLSearchParams(Object.entries(all).filter((each): each is [string, string] => each[1] !== undefined));
}

/** Returns the path and query of such a request. */
export function authorizationPath(clientId: string, changes?: RequestParameters): string {
  return `/oauth/authorize?${authorizationParameters(clientId, changes).toString()}`;
}
