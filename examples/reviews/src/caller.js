/** Finds the caller of a request by its access token: a JWT of the issuer whose keys are at `JWKS_URL`. */
import { createRemoteJWKSet, jwtVerify } from 'jose';

const ISSUER = 'trestle';
const AUDIENCE = 'trestle-api';

/**
 * Creates a function that returns `{id, scopes}` of the caller, or undefined without a token. It throws for a token that is invalid or expired. The
 * keys are read when the first token comes, and again when a token names another key, at most every 30 seconds.
 */
export function createFindCaller(jwksUrl) {
  const keys = createRemoteJWKSet(new URL(jwksUrl));
  return async function findCaller(authorization) {
    const [, token] = /^Bearer ([\w.-]{1,8192})$/i.exec(authorization ?? '') ?? [];
    if (token === undefined) return undefined;
    const options = { issuer: ISSUER, audience: AUDIENCE, algorithms: ['ES256'], typ: 'at+jwt', requiredClaims: ['exp', 'sub'] };
    const { payload } = await jwtVerify(token, keys, options);
    return { id: payload.sub, scopes: new Set(String(payload.scope ?? '').split(' ')) };
  };
}
