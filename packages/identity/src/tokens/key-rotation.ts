/** Replaces the key that signs tokens, in two steps: publishes the new key, then signs with it (RFC 7517). No I/O. */
import { type KeyObject, createPublicKey } from 'node:crypto';
import { type PublicJwk, formatKeySet, parsePublicKeys, parseSigningKey, toPublicJwk } from './key-set.ts';
import { ACCESS_TOKEN_SECONDS } from './own-tokens.ts';

/** Seconds for which a retired key is kept: the lifetime of a token, and time for the signing process to load the new key. */
export const RETIRED_KEY_SECONDS = ACCESS_TOKEN_SECONDS + 5 * 60;

/** The contents of both key files before a rotation. */
export interface KeyFiles {
  /** JWKS, or PEM (PKCS#8). */
  readonly privateText: string;
  /** JWKS, or PEM (SPKI). */
  readonly publicText: string;
}

/** The contents of both key files after a rotation: publish the public text first, and sign when every verifier has loaded it. */
export interface Rotation extends KeyFiles {
  readonly kid: string;
  /** Ids of the keys that were removed, because their last token has ended. */
  readonly removed: readonly string[];
  /** The public text with the new key alone. Once it is published, no token of an older key is accepted. */
  readonly newKeyText: string;
  /** Ids of the keys that are in `publicText` and not in `newKeyText`. */
  readonly kept: readonly string[];
}

/** What a rotation needs besides the files. */
export interface RotationOptions {
  /** The new private key, on the curve P-256. */
  readonly newKey: KeyObject;
  /** When the new key begins to sign, in seconds since the epoch. */
  readonly signsAt: number;
}

/**
 * Plans a rotation. Every other key is kept until its last token has ended; keys whose last token had ended are removed. Throws when the
 * files are not a private key and a set with its public key.
 */
export function planRotation({ privateText, publicText }: KeyFiles, { newKey, signsAt }: RotationOptions): Rotation {
  const signing = parseSigningKey(privateText);
  const published = parsePublicKeys(publicText);
  const pem = toPublicJwk(createPublicKey(signing.key));
  if (!published.some(({ kid, x, y }) => kid === signing.kid && x === pem.x && y === pem.y))
    throw new Error('The public keys do not contain the key that signs now. Restore both files from a backup.');
  const isRemoved = ({ kid, exp = Infinity }: PublicJwk) => kid !== signing.kid && exp <= signsAt;
  const kept = published.filter((jwk) => !isRemoved(jwk)).map((jwk) => retire(jwk, { isSigning: jwk.kid === signing.kid, signsAt }));
  const added = toPublicJwk(newKey);
  return {
    kid: added.kid,
    publicText: formatKeySet([added, ...kept]),
    privateText: formatKeySet([{ ...newKey.export({ format: 'jwk' }), use: 'sig', alg: 'ES256', kid: added.kid }]),
    removed: published.filter(isRemoved).map(({ kid }) => kid),
    newKeyText: formatKeySet([added]),
    kept: kept.map(({ kid }) => kid),
  };
}

/** A key that has an end and does not sign keeps its end. */
function retire(jwk: PublicJwk, { isSigning, signsAt }: { readonly isSigning: boolean; readonly signsAt: number }): PublicJwk {
  return jwk.exp !== undefined && !isSigning ? jwk : { ...jwk, exp: signsAt + RETIRED_KEY_SECONDS };
}
