/** JWTs as oidc-provider looks them up: where tokens are revoked and introspected it refuses what looks like a JWT. */

/** Returns the token with other separators, so that the library looks it up as any other token. */
export function encodeJwt(token: string): string {
  return token.replaceAll('.', '~');
}

/** Returns the token that `encodeJwt` was given. */
export function decodeJwt(token: string): string {
  return token.replaceAll('~', '.');
}
