/** The scopes of the authorization server: those of the API that may be delegated, and those of OpenID Connect. */
import { DELEGABLE_SCOPES, SCOPE_DESCRIPTIONS, type Scope, isScope } from '@trestle/identity/scopes';

/** Scopes of OpenID Connect (OpenID Connect Core §5.4, §11), with their texts for the consent page. They are no scopes of the API. */
const OPENID_SCOPES: Readonly<Record<string, string>> = {
  openid: 'Know who you are: the id of your account',
  profile: 'Read your name',
  email: 'Read your e-mail address',
  offline_access: 'Keep this access while you are away',
};

/** Every scope that clients can ask for. */
export const OAUTH_SCOPES: readonly string[] = [...Object.keys(OPENID_SCOPES), ...DELEGABLE_SCOPES];

/** Returns the scopes of the API among these. */
export function toApiScopes(scopes: Iterable<string>): Scope[] {
  const given = new Set(scopes);
  return DELEGABLE_SCOPES.filter((scope) => given.has(scope));
}

/** Returns what a scope lets a client do, for the consent page. */
export function describeScope(scope: string): string {
  const own = OPENID_SCOPES[scope];
  if (own !== undefined) return own;
  return isScope(scope) ? SCOPE_DESCRIPTIONS[scope] : scope;
}
