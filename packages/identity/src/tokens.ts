/** Access tokens: JWTs signed with ES256, valid for 15 minutes, issued by the users subgraph and verified by every process (spec §5.3, RFC 9068). */
import { type KeyObject, createPrivateKey, createPublicKey, generateKeyPairSync, randomUUID } from 'node:crypto';
import { fail } from '@trestle/schema/errors';
import jwt from 'jsonwebtoken';
import { type Caller, ROLES, type Role } from './identity.ts';
import { type Revocations, createRevocations } from './revocations.ts';

/** Lifetime of an access token, in seconds. */
export const ACCESS_TOKEN_SECONDS = 15 * 60;
const ISSUER = 'trestle';
const AUDIENCE = 'trestle-api';
const TYPE = 'at+jwt';
/** Maximum difference between the clocks of issuer and verifier. */
const CLOCK_TOLERANCE_SECONDS = 5;
const MAX_CACHED_TOKENS = 10_000;
/** Longest delay of a Node.js timer. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Holds the values of an account that a token contains. `role` and `tokenGeneration` must be read together: a later change of the role
 * increases the generation and so revokes the token.
 */
export interface TokenAccount {
  readonly id: string;
  readonly role: Role;
  readonly tokenGeneration: number;
}

/** Issues access tokens. */
export interface TokenIssuer {
  /** Signs a token for an account. It contains no personal data, because the payload is not encrypted (spec §5.3). */
  issue(account: TokenAccount): { readonly token: string; readonly expiresInSeconds: number };
}

/** Verifies access tokens. */
export interface TokenVerifier {
  /** Returns the caller that a token identifies. Throws UNAUTHORIZED when the token is invalid, expired or revoked. */
  verify(token: string): Caller;
  /** Returns whether the token of a verified caller is still valid. For streams and sockets, which outlive the verification. */
  isValid(caller: Caller): boolean;
  /**
   * Calls `onInvalid` once, when the token expires or is revoked; never before `watch` has returned. Returns a function that stops
   * watching.
   */
  watch(caller: Caller, onInvalid: () => void): () => void;
}

/**
 * Creates an issuer. `privateKeyPem` is a P-256 key in PKCS#8 and PEM; `now` returns milliseconds since the epoch.
 * Throws when the key is of another kind.
 */
export function createTokenIssuer({ privateKeyPem, now = Date.now }: { privateKeyPem: string; now?: () => number }): TokenIssuer {
  const key = requireP256(createPrivateKey(privateKeyPem));
  return {
    issue({ id, role, tokenGeneration }) {
      const issuedAt = Math.floor(now() / 1000);
      const times = { iat: issuedAt, exp: issuedAt + ACCESS_TOKEN_SECONDS };
      const claims = { iss: ISSUER, aud: AUDIENCE, sub: id, role, gen: tokenGeneration, jti: randomUUID(), ...times };
      const token = jwt.sign(claims, key, { algorithm: 'ES256', header: { alg: 'ES256', typ: TYPE } });
      return { token, expiresInSeconds: ACCESS_TOKEN_SECONDS };
    },
  };
}

/** Configures a token verifier. */
export interface TokenVerifierOptions {
  /** P-256 key in SPKI and PEM. */
  readonly publicKeyPem: string;
  /** Revoked tokens; none by default. */
  readonly revocations?: Revocations;
  /** Returns milliseconds since the epoch; `Date.now` by default. */
  readonly now?: () => number;
}

/**
 * Creates a verifier. It caches the tokens that it has verified, and checks expiry and revocation on every call.
 * Throws when the key is of another kind.
 */
export function createTokenVerifier({
  publicKeyPem,
  now = Date.now,
  revocations = createRevocations(),
}: TokenVerifierOptions): TokenVerifier {
  const key = requireP256(createPublicKey(publicKeyPem));
  const { isRevoked, subscribeToUser } = revocations;
  const verified = new Map<string, Caller>();
  const millisecondsLeft = ({ expiresAt }: Caller) => (expiresAt + CLOCK_TOLERANCE_SECONDS) * 1000 - now();
  const isValid = (caller: Caller) => millisecondsLeft(caller) > 0 && !isRevoked(caller);
  return {
    isValid,
    watch(caller, onInvalid) {
      let timer: NodeJS.Timeout;
      let isStopped = false;
      const stop = () => {
        isStopped = true;
        clearTimeout(timer);
        unsubscribe();
      };
      const check = () => {
        clearTimeout(timer);
        if (isStopped) return;
        if (isValid(caller)) wait();
        else {
          stop();
          onInvalid();
        }
      };
      const wait = () => {
        // The token may have become invalid since it was verified.
        const leftMs = isValid(caller) ? millisecondsLeft(caller) + 1 : 0;
        timer = setTimeout(check, Math.min(leftMs, MAX_TIMER_MS)).unref();
      };
      const unsubscribe = subscribeToUser(caller.userId, check);
      wait();
      return stop;
    },
    verify(token) {
      let caller = verified.get(token);
      if (!caller) {
        caller = readToken(token, key, now);
        if (verified.size >= MAX_CACHED_TOKENS) verified.delete(verified.keys().next().value ?? '');
        verified.set(token, caller);
      }
      if (!isValid(caller)) {
        verified.delete(token);
        throw unauthorized();
      }
      return caller;
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

/** Checks what jsonwebtoken accepts: another type, critical headers, a missing expiry, a lifetime that exceeds ours. */
function readToken(token: string, key: KeyObject, now: () => number): Caller {
  let decoded: jwt.Jwt;
  try {
    decoded = jwt.verify(token, key, {
      algorithms: ['ES256'],
      issuer: ISSUER,
      audience: AUDIENCE,
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      clockTimestamp: Math.floor(now() / 1000),
      complete: true,
    });
  } catch (cause) {
    throw unauthorized(cause);
  }
  const { header, payload } = decoded;
  if (typeof payload === 'string' || header.typ !== TYPE || header.crit !== undefined) throw unauthorized();
  // Tokens issued before generations were introduced have no `gen`.
  const { sub, jti, iat, exp, gen = 0 } = payload as jwt.JwtPayload & { readonly gen?: unknown };
  const role = ROLES.find((known) => known === payload['role']);
  if (!role || typeof sub !== 'string' || typeof jti !== 'string' || typeof iat !== 'number' || typeof exp !== 'number')
    throw unauthorized();
  if (exp - iat > ACCESS_TOKEN_SECONDS || !Number.isSafeInteger(gen)) throw unauthorized();
  return { userId: sub, role, tokenId: jti, generation: gen as number, expiresAt: exp };
}

function unauthorized(cause?: unknown): Error {
  return fail('UNAUTHORIZED', 'The access token is invalid, expired or revoked', { cause });
}

function requireP256(key: KeyObject): KeyObject {
  if (key.asymmetricKeyType !== 'ec' || key.asymmetricKeyDetails?.namedCurve !== 'prime256v1')
    throw new Error('The token key must be an EC key on the curve P-256');
  return key;
}
