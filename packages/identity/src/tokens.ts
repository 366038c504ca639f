/** Access tokens: ES256 JWTs of 15 minutes, signed by the users subgraph and verified by everybody (spec §5.3, RFC 9068). */
import { type KeyObject, createPrivateKey, createPublicKey, generateKeyPairSync, randomUUID } from 'node:crypto';
import { fail } from '@trestle/schema/errors';
import jwt from 'jsonwebtoken';
import { type Caller, ROLES, type Role } from './identity.ts';
import { type Revocations, createRevocations } from './revocations.ts';

export const ACCESS_TOKEN_SECONDS = 15 * 60;
const ISSUER = 'trestle';
const AUDIENCE = 'trestle-api';
const TYPE = 'at+jwt';
/** A token may be from a machine whose clock is this far ahead or behind. */
const CLOCK_TOLERANCE_SECONDS = 5;
const REMEMBERED_TOKENS = 10_000;
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** What a token says of its account. `tokenGeneration` is read together with the role: what ends the one's tokens was not yet there. */
export interface TokenAccount {
  readonly id: string;
  readonly role: Role;
  readonly tokenGeneration: number;
}

export interface TokenIssuer {
  /** Signs a token for an account. It holds no personal data: the payload is only encoded (spec §5.3). */
  issue(account: TokenAccount): { readonly token: string; readonly expiresInSeconds: number };
}

export interface TokenVerifier {
  /** Gives the caller that a token stands for. Throws UNAUTHORIZED unless it is valid in every respect, and not revoked. */
  verify(token: string): Caller;
  /** Whether the token of a caller who was verified before is still good; for whoever is served for longer than one answer takes. */
  holds(caller: Caller): boolean;
  /** Calls once, as soon as the token has ended or is revoked, unless what it gives is called before. Never calls before it returns. */
  watch(caller: Caller, onOver: () => void): () => void;
}

/** `privateKeyPem` is a P-256 key in PKCS#8; `now` gives milliseconds. Throws if the key is of another kind. */
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

export interface TokenVerifierOptions {
  /** The P-256 key in SPKI. */
  readonly publicKeyPem: string;
  /** Without them none is known of. */
  readonly revocations?: Revocations;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** Remembers tokens that it has verified; whether they have ended or are revoked is looked at on every call. */
export function createTokenVerifier({
  publicKeyPem,
  now = Date.now,
  revocations = createRevocations(),
}: TokenVerifierOptions): TokenVerifier {
  const key = requireP256(createPublicKey(publicKeyPem));
  const { isRevoked, listenTo } = revocations;
  const verified = new Map<string, Caller>();
  const millisecondsLeft = ({ expiresAt }: Caller) => (expiresAt + CLOCK_TOLERANCE_SECONDS) * 1000 - now();
  const holds = (caller: Caller) => millisecondsLeft(caller) > 0 && !isRevoked(caller);
  return {
    holds,
    watch(caller, onOver) {
      let timer: NodeJS.Timeout;
      let isStopped = false;
      const stop = () => {
        isStopped = true;
        clearTimeout(timer);
        ignore();
      };
      const look = () => {
        clearTimeout(timer);
        if (isStopped) return;
        if (holds(caller)) wait();
        else {
          stop();
          onOver();
        }
      };
      const wait = () => {
        // It may be over already, since it was verified.
        const leftMs = holds(caller) ? millisecondsLeft(caller) + 1 : 0;
        timer = setTimeout(look, Math.min(leftMs, LONGEST_TIMER_MS)).unref();
      };
      const ignore = listenTo(caller.userId, look);
      wait();
      return stop;
    },
    verify(token) {
      let caller = verified.get(token);
      if (!caller) {
        caller = readToken(token, key, now);
        if (verified.size >= REMEMBERED_TOKENS) verified.delete(verified.keys().next().value ?? '');
        verified.set(token, caller);
      }
      if (!holds(caller)) {
        verified.delete(token);
        throw unauthorized();
      }
      return caller;
    },
  };
}

/** Makes a key pair for `createTokenIssuer` and `createTokenVerifier`. */
export function generateTokenKeys(): { privateKeyPem: string; publicKeyPem: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return {
    privateKeyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    publicKeyPem: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  };
}

/** Checks what jsonwebtoken alone would let pass: type, critical headers, a missing end, a life longer than we give. */
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
  // A token of before there were generations is of the first one.
  const { sub, jti, iat, exp, gen = 0 } = payload as jwt.JwtPayload & { readonly gen?: unknown };
  const role = ROLES.find((known) => known === payload['role']);
  if (!role || typeof sub !== 'string' || typeof jti !== 'string' || typeof iat !== 'number' || typeof exp !== 'number')
    throw unauthorized();
  if (exp - iat > ACCESS_TOKEN_SECONDS || !Number.isSafeInteger(gen)) throw unauthorized();
  return { userId: sub, role, tokenId: jti, generation: gen as number, expiresAt: exp };
}

function unauthorized(cause?: unknown): Error {
  return fail('UNAUTHORIZED', 'The access token is not valid or has ended', { cause });
}

function requireP256(key: KeyObject): KeyObject {
  if (key.asymmetricKeyType !== 'ec' || key.asymmetricKeyDetails?.namedCurve !== 'prime256v1')
    throw new Error('The token key must be an EC key on P-256');
  return key;
}
