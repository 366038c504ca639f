/** Issues access tokens: JWTs signed with ES256, valid for 15 minutes at most, verified by every process (spec §5.3, RFC 9068). */
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import jwt from 'jsonwebtoken';
import type { Plan, Role } from '../identity.ts';
import { parseSigningKey } from './key-set.ts';
import type { SigningKeySource } from './key-source.ts';
import { ACCESS_TOKEN_SECONDS, AUDIENCE, ISSUER, TYPE } from './own-tokens.ts';
import { ALL_SCOPES, formatScopes } from '../scopes.ts';

export { ACCESS_TOKEN_SECONDS } from './own-tokens.ts';

/**
 * Holds what a token contains. `role` and `tokenGeneration` must be read together: a later change of the role increases the generation and
 * so revokes the token. A change of plan takes effect with the next token.
 */
export interface TokenGrant {
  /** The account. */
  readonly id: string;
  readonly role: Role;
  readonly tokenGeneration: number;
  readonly plan: Plan;
  /** Requests per minute that the account has instead of those of its plan. Only the plan `enterprise` has a number of its own. */
  readonly requestsPerMinute: number | null;
  /** The session that the token belongs to; revoking the session revokes the token. */
  readonly sessionId: string;
  /** What the token may do; everything by default. */
  readonly scopes?: ReadonlySet<string>;
  /** The OAuth client that the token is for; none by default. */
  readonly clientId?: string;
  /** 1 to `ACCESS_TOKEN_SECONDS`, which is the default. */
  readonly lifetimeSeconds?: number;
}

/** Issues access tokens. */
export interface TokenIssuer {
  /**
   * Signs a token. It contains no personal data, because the payload is not encrypted (spec §5.3). Throws when the lifetime is out of
   * range.
   */
  issue(grant: TokenGrant): { readonly token: string; readonly expiresInSeconds: number };
}

/** Configures an issuer. */
export type TokenIssuerOptions = ({ readonly keys: Pick<SigningKeySource, 'current'> } | { readonly privateKeyPem: string }) & {
  /** Returns milliseconds since the epoch; `Date.now` by default. */
  readonly now?: () => number;
};

/**
 * Creates an issuer. `privateKeyPem` is a P-256 key in PKCS#8 and PEM, or a JWKS. Throws when the key is of another kind.
 */
export function createTokenIssuer(options: TokenIssuerOptions): TokenIssuer {
  const { now = Date.now } = options;
  const fixed = 'keys' in options ? undefined : parseSigningKey(options.privateKeyPem);
  const currentKey = 'keys' in options ? () => options.keys.current() : () => fixed as NonNullable<typeof fixed>;
  return {
    issue(grant) {
      const { clientId, scopes = ALL_SCOPES, lifetimeSeconds = ACCESS_TOKEN_SECONDS } = grant;
      if (!Number.isInteger(lifetimeSeconds) || lifetimeSeconds < 1 || lifetimeSeconds > ACCESS_TOKEN_SECONDS)
        throw new RangeError(`The lifetime of an access token must be 1 to ${String(ACCESS_TOKEN_SECONDS)} seconds.`);
      const issuedAt = Math.floor(now() / 1000);
      const claims = {
        iss: ISSUER,
        aud: AUDIENCE,
        sub: grant.id,
        role: grant.role,
        gen: grant.tokenGeneration,
        sid: grant.sessionId,
        scope: formatScopes(scopes),
        ...(clientId !== undefined && { client_id: clientId }),
        plan: grant.plan,
        ...(grant.plan === 'enterprise' && grant.requestsPerMinute !== null && { rpm: grant.requestsPerMinute }),
        jti: randomUUID(),
        iat: issuedAt,
        exp: issuedAt + lifetimeSeconds,
      };
      const { kid, key } = currentKey();
      const token = jwt.sign(claims, key, { algorithm: 'ES256', header: { alg: 'ES256', typ: TYPE, kid } });
      return { token, expiresInSeconds: lifetimeSeconds };
    },
  };
}

/** Generates a key pair for `createTokenIssuer` and `createTokenVerifier`. */
export function generateTokenKeys(): { privateKeyPem: string; publicKeyPem: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return {
    privateKeyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    publicKeyPem: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  };
}
