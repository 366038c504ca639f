/** Access tokens of other issuers: discovery and keys (OpenID Connect Discovery 1.0), and what their claims mean here. */
import { type KeyObject, createHash } from 'node:crypto';
import type { Log } from '@trestle/log';
import jwt from 'jsonwebtoken';
import { type Caller, ROLES, type Role } from '../identity.ts';
import { type KeySet, readIssuerKeys } from '../tokens/key-set.ts';
import { RemoteKeys, fetchJson } from './remote-keys.ts';
import type { KeyName } from './signing-keys.ts';
import { type ParsedToken, unauthorized } from '../tokens/token-format.ts';
import { type TrustedIssuer, isForeignScope } from './trusted-issuers.ts';

/** Verifies the tokens of the other issuers. */
export interface ForeignTokens {
  /** Resolves when the keys of every issuer were loaded, or after 3 s. */
  readonly settled: Promise<void>;
  /** Returns the caller of a token, or undefined for an issuer that is not trusted. Throws UNAUTHORIZED. */
  read(parsed: ParsedToken): Caller | undefined;
  /** Returns the key of an issuer that is in force; undefined for one that does not exist, and for an issuer that is not trusted. */
  findKey(name: KeyName): KeyObject | undefined;
  /** Resolves when keys were loaded, or after 2 s, for a token whose key is not known and being loaded; returns undefined for any other. */
  waitForKey(parsed: ParsedToken): Promise<void> | undefined;
  /** Calls `listener` after the keys of an issuer were loaded. */
  onChange(listener: () => void): void;
  /** Stops refreshing keys. */
  stop(): void;
}

/** Configures the verification of tokens of other issuers. */
export interface ForeignTokensOptions {
  readonly issuers: readonly TrustedIssuer[];
  readonly log: Pick<Log, 'debug' | 'info' | 'warn'>;
  /** Returns milliseconds since the epoch; `Date.now` by default. */
  readonly now?: () => number;
  /** How often keys are loaded again, and how soon after a failure or an unknown key; 5 minutes and 5 s by default. */
  readonly refreshMs?: number;
  readonly retryMs?: number;
}

/** What of a token may be part of an id here. */
const MAX_ID_LENGTH = 255;
const ID = /^[\x21-\x7e]+$/;

/** Starts to load the keys of every issuer. */
export function openForeignTokens({ issuers, now = Date.now, ...options }: ForeignTokensOptions): ForeignTokens {
  const trusted = new Map(
    issuers.map((issuer) => [
      issuer.issuer,
      { issuer, keys: new RemoteKeys({ ...options, name: issuer.name, load: () => loadKeys(issuer) }) },
    ]),
  );
  const findIssuer = (name: unknown) => (typeof name === 'string' ? trusted.get(name) : undefined);
  const find = ({ payload: { iss } }: ParsedToken) => findIssuer(iss);
  const all = [...trusted.values()].map(({ keys }) => keys);
  return {
    settled: Promise.all(all.map(({ settled }) => settled)).then(() => undefined),
    read(parsed) {
      const found = find(parsed);
      if (!found) return undefined;
      try {
        return readToken(parsed, { ...found, seconds: Math.floor(now() / 1000) });
      } catch (error) {
        options.log.debug(`refused a token of ${found.issuer.name}`, { error: (error as Error).cause });
        throw error;
      }
    },
    findKey: ({ issuer, kid, algorithm }) => findIssuer(issuer)?.keys.find(kid, algorithm),
    waitForKey(parsed) {
      const found = find(parsed);
      const { kid, algorithm } = parsed;
      return !found?.issuer.algorithms.includes(algorithm) || found.keys.find(kid, algorithm) ? undefined : found.keys.waitForLoad();
    },
    onChange(listener) {
      for (const keys of all) keys.onChange(listener);
    },
    stop() {
      for (const keys of all) keys.stop();
    },
  };
}

/** Rejects a discovery document of another issuer, which could otherwise be mixed up with this one (RFC 8414 §3.3). */
async function loadKeys({ issuer, jwksUrl, algorithms }: TrustedIssuer): Promise<KeySet> {
  if (jwksUrl !== undefined) return readIssuerKeys(await fetchJson(jwksUrl), algorithms);
  const { issuer: stated, jwks_uri: address } = (await fetchJson(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`)) as {
    readonly issuer?: unknown;
    readonly jwks_uri?: unknown;
  };
  if (stated !== issuer) throw new Error('The discovery document is of another issuer.');
  if (typeof address !== 'string' || !URL.canParse(address)) throw new Error('The discovery document has no `jwks_uri`.');
  // A document that was loaded by https must not lead to a weaker address.
  if (new URL(address).protocol !== 'https:' && new URL(address).origin !== new URL(issuer).origin)
    throw new Error('The `jwks_uri` of the discovery document is not an https URL.');
  return readIssuerKeys(await fetchJson(address), algorithms);
}

/** Returns the error of a token, with a reason that only the log gets. */
function refused(reason: string): Error {
  return unauthorized(new Error(reason));
}

interface Verification {
  readonly issuer: TrustedIssuer;
  readonly keys: RemoteKeys;
  readonly seconds: number;
}

function readToken({ token, header, algorithm, kid }: ParsedToken, { issuer, keys, seconds }: Verification): Caller {
  const type = typeof header['typ'] === 'string' ? header['typ'].toLowerCase().replace(/^application\//, '') : '';
  if (!issuer.algorithms.includes(algorithm)) throw refused('its `alg` is none of `algorithms`');
  if (!issuer.types.some((allowed) => allowed.toLowerCase() === type)) throw refused('its `typ` is none of `types`');
  const key = keys.find(kid, algorithm);
  if (!key) throw refused('no key of the issuer has its `kid` and `alg`');
  let payload: jwt.JwtPayload | string;
  try {
    payload = jwt.verify(token, key, {
      algorithms: [algorithm as jwt.Algorithm],
      issuer: issuer.issuer,
      audience: issuer.audience as [string, ...string[]],
      clockTolerance: issuer.clockToleranceSeconds,
      clockTimestamp: seconds,
    });
  } catch (cause) {
    throw unauthorized(cause);
  }
  if (typeof payload === 'string') throw refused('its payload is no JSON object');
  const { jti = issuer.requireJti ? undefined : hashSigned(token) } = payload;
  return readClaims({ ...payload, ...(jti !== undefined && { jti }) }, issuer, seconds);
}

/**
 * Returns the id of a token that has none: the SHA-256 of what was signed. The signature is left out, because anybody can make another valid one
 * of an ECDSA signature (`s` becomes `n - s`), and a token with that one must not escape its revocation.
 */
function hashSigned(token: string): string {
  return createHash('sha256')
    .update(token.slice(0, token.lastIndexOf('.')))
    .digest('base64url');
}

/** Every id gets the issuer's name as a prefix, so that it is never the id of an account, token or session of ours or of another issuer. */
function readClaims(payload: jwt.JwtPayload, issuer: TrustedIssuer, seconds: number): Caller {
  const { iat, exp, jti, sid, client_id: clientId } = payload as Record<string, unknown>;
  const toId = (name: string, value: unknown) => {
    if (typeof value !== 'string' || value.length > MAX_ID_LENGTH || !ID.test(value))
      throw refused(`its \`${name}\` is missing, or is not 1 to ${String(MAX_ID_LENGTH)} visible ASCII characters`);
    return `${issuer.name}:${value}`;
  };
  if (typeof iat !== 'number' || typeof exp !== 'number') throw refused('its `iat` or `exp` is missing');
  if (iat > seconds + issuer.clockToleranceSeconds) throw refused('its `iat` is in the future');
  if (exp - iat > issuer.maxLifetimeSeconds)
    throw refused(`it lives for ${String(exp - iat)} s, more than \`maxLifetimeSeconds\` (${String(issuer.maxLifetimeSeconds)})`);
  return {
    userId: toId(issuer.userClaim, own(payload, issuer.userClaim)),
    role: roleOf(payload, issuer),
    tokenId: toId('jti', jti),
    generation: 0,
    expiresAt: exp,
    toleranceSeconds: issuer.clockToleranceSeconds,
    sessionId: sid === undefined ? null : toId('sid', sid),
    scopes: scopesOf(payload, issuer),
    clientId: clientId === undefined ? null : toId('client_id', clientId),
    plan: issuer.plan,
    requestsPerMinute: null,
  };
}

/** Returns the highest role that a value of the claim maps to. Throws UNAUTHORIZED when none does and there is no default. */
function roleOf(payload: object, { roles }: TrustedIssuer): Role {
  if (!roles) return 'USER';
  const mapped = valuesAt(payload, roles.claim).flatMap((value) => own(roles.map, value) ?? []);
  const role = ROLES.findLast((each) => mapped.includes(each)) ?? roles.default;
  if (!role) throw refused('no value of its claim of `roles` maps to a role, and there is no `default`');
  return role;
}

function scopesOf(payload: object, { scopes }: TrustedIssuer): ReadonlySet<string> {
  if (!scopes) return new Set();
  const { claim, map } = scopes;
  const values = valuesAt(payload, claim);
  return new Set(map ? values.flatMap((value) => own(map, value) ?? []) : values.filter(isForeignScope));
}

/** Returns the strings of a claim: those of a list, or the words of a string. */
function valuesAt(payload: object, path: readonly string[]): string[] {
  const value = path.reduce<unknown>(
    (inside, name) => (typeof inside === 'object' && inside !== null ? own(inside, name) : undefined),
    payload,
  );
  if (typeof value === 'string') return value.split(' ');
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}

/** A name such as `__proto__` must find nothing. */
function own<Value>(object: Readonly<Record<string, Value>> | object, name: string): Value | undefined {
  return Object.hasOwn(object, name) ? (object as Readonly<Record<string, Value>>)[name] : undefined;
}
