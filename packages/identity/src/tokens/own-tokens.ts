/** The access tokens that we issue: their claims, and how they are read (spec §5.3, RFC 9068). No I/O. */
import type { KeyObject } from 'node:crypto';
import jwt from 'jsonwebtoken';
import { type Caller, PLANS, ROLES } from '../identity.ts';
import { ALL_SCOPES, parseScopes } from '../scopes.ts';
import { type ParsedToken, unauthorized } from './token-format.ts';

/** Lifetime of an access token, in seconds. */
export const ACCESS_TOKEN_SECONDS = 15 * 60;
/** The claim `iss`. */
export const ISSUER = 'trestle';
/** The claim `aud`. */
export const AUDIENCE = 'trestle-api';
/** The header `typ`. */
export const TYPE = 'at+jwt';
/** Maximum difference between the clocks of issuer and verifier. */
export const CLOCK_TOLERANCE_SECONDS = 5;
const ALGORITHM = 'ES256';
const HEADERS: ReadonlySet<string> = new Set(['alg', 'typ', 'kid']);

/** What tokens are read with. */
export interface ReadOptions {
  /** Returns the key for a token. */
  readonly find: (kid: string | undefined, algorithm: string) => KeyObject | undefined;
  /** Returns milliseconds since the epoch. */
  readonly now: () => number;
}

/** Verifies a token of ours and returns its caller. Throws UNAUTHORIZED. */
export function readOwnToken({ token, header, algorithm, kid }: ParsedToken, { find, now }: ReadOptions): Caller {
  // Our tokens have no other headers: `jwk`, `jku`, `x5u` and the like would name a key of the sender's choice.
  if (algorithm !== ALGORITHM || header['typ'] !== TYPE || !Object.keys(header).every((name) => HEADERS.has(name))) throw unauthorized();
  const key = find(kid, ALGORITHM);
  if (!key) throw unauthorized();
  let payload: jwt.JwtPayload | string;
  try {
    payload = jwt.verify(token, key, {
      algorithms: [ALGORITHM],
      issuer: ISSUER,
      audience: AUDIENCE,
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      clockTimestamp: Math.floor(now() / 1000),
    });
  } catch (cause) {
    throw unauthorized(cause);
  }
  if (typeof payload === 'string') throw unauthorized();
  return readClaims(payload, Math.floor(now() / 1000) + CLOCK_TOLERANCE_SECONDS);
}

/** Returns the caller of a token of ours. Tokens issued by an earlier version have no `gen`, `sid`, `scope` or `plan`. */
function readClaims(payload: jwt.JwtPayload, latest: number): Caller {
  const { sub, jti, iat, exp } = payload;
  const { role, gen = 0, sid = null, scope, client_id: clientId = null, plan = 'free', rpm = null } = payload as Record<string, unknown>;
  if (typeof sub !== 'string' || typeof jti !== 'string' || typeof iat !== 'number' || typeof exp !== 'number') throw unauthorized();
  if (iat > latest || exp - iat > ACCESS_TOKEN_SECONDS || !isOneOf(ROLES, role) || !isOneOf(PLANS, plan)) throw unauthorized();
  if (!Number.isSafeInteger(gen) || !isStringOrNull(sid) || !isStringOrNull(clientId)) throw unauthorized();
  if (rpm !== null && !(Number.isSafeInteger(rpm) && (rpm as number) > 0)) throw unauthorized();
  if (scope !== undefined && typeof scope !== 'string') throw unauthorized();
  const scopes = scope === undefined ? ALL_SCOPES : parseScopes(scope);
  const limits = { plan, requestsPerMinute: rpm as number | null };
  return { userId: sub, role, tokenId: jti, generation: gen as number, expiresAt: exp, sessionId: sid, scopes, clientId, ...limits };
}

function isOneOf<T>(values: readonly T[], value: unknown): value is T {
  return values.includes(value as T);
}

function isStringOrNull(value: unknown): value is string | null {
  return value === null || typeof value === 'string';
}
