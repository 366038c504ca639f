/** Keys of access tokens: JSON Web Key Sets (RFC 7517) and PEM, parsed and written. No I/O. */
import { type JsonWebKey, type KeyObject, createHash, createPrivateKey, createPublicKey } from 'node:crypto';

/** A key that verifies signatures. */
export interface VerificationKey {
  /** The `kid` in the header of tokens that it verifies; undefined for a key of another issuer that has none. */
  readonly kid: string | undefined;
  readonly key: KeyObject;
  /** The algorithms that may be used with it: those of its type only, so that a token cannot choose another family (RFC 8725 §3.1). */
  readonly algorithms: readonly string[];
}

/** Verifies signatures. */
export interface KeySet {
  /**
   * Returns the key with this id for this algorithm. Without an id, returns the only key for the algorithm. Returns undefined when there is
   * no such key. Keys of different types may have the same id (RFC 7517 §4.5).
   */
  readonly find: (kid: string | undefined, algorithm: string) => KeyObject | undefined;
  readonly size: number;
  readonly keys: readonly VerificationKey[];
}

/** A public key of ours, as a member of a key set. */
export interface PublicJwk extends JsonWebKey {
  readonly kid: string;
  /** When the last token of a retired key has ended, in seconds since the epoch: the next rotation removes the key. */
  readonly exp?: number;
}

/** The key that signs tokens. */
export interface SigningKey {
  readonly kid: string;
  readonly key: KeyObject;
}

const MAX_KEYS = 50;
const MIN_RSA_BITS = 2048;
const CURVE_ALGORITHMS = new Map([
  ['prime256v1', ['ES256']],
  ['secp384r1', ['ES384']],
  ['secp521r1', ['ES512']],
]);
const RSA_ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'];

/** Lists every algorithm that can be trusted: asymmetric ones only. */
export const ASYMMETRIC_ALGORITHMS: readonly string[] = [...RSA_ALGORITHMS, ...[...CURVE_ALGORITHMS.values()].flat()];

/** Creates a set of keys. */
export function createKeySet(keys: readonly VerificationKey[]): KeySet {
  return {
    keys,
    size: keys.length,
    find(kid, algorithm) {
      const ofAlgorithm = keys.filter(({ algorithms }) => algorithms.includes(algorithm));
      if (kid !== undefined) return ofAlgorithm.findLast((each) => each.kid === kid)?.key;
      return ofAlgorithm.length === 1 ? ofAlgorithm[0]?.key : undefined;
    },
  };
}

/** Returns whether both sets have the same keys, with the same ids and for the same algorithms, in the same order. */
export function areEqual(a: KeySet, b: KeySet): boolean {
  return (
    a.size === b.size &&
    a.keys.every(({ kid, key, algorithms }, i) => {
      const other = b.keys[i];
      return other !== undefined && other.kid === kid && other.key.equals(key) && other.algorithms.join() === algorithms.join();
    })
  );
}

/**
 * Parses our public keys: a JWKS of P-256 keys, or one key in PEM (SPKI). Throws an Error that does not quote the content when the text is
 * anything else, has no key, more than 50 keys, or two keys with the same id.
 */
export function parsePublicKeys(text: string): readonly PublicJwk[] {
  if (!isJson(text)) return [toPublicJwk(requireP256(createPublicKey(text)))];
  const keys = readKeys(JSON.parse(text)).map((jwk) => {
    if (jwk.d !== undefined) throw new Error('The public key set contains a private key.');
    const { exp } = jwk;
    const key = toPublicJwk(requireP256(createPublicKey({ key: jwk, format: 'jwk' })), jwk['kid']);
    return Number.isSafeInteger(exp) ? { ...key, exp: exp as number } : key;
  });
  if (keys.length === 0) throw new Error('The key set is empty.');
  if (new Set(keys.map(({ kid }) => kid)).size < keys.length) throw new Error('Two keys of the key set have the same `kid`.');
  return keys;
}

/** Parses our private key: the first of a JWKS, or PEM (PKCS#8). Throws an Error when the text is not a P-256 key. */
export function parseSigningKey(text: string): SigningKey {
  const [jwk] = isJson(text) ? readKeys(JSON.parse(text)) : [];
  if (isJson(text) && !jwk) throw new Error('The key set is empty.');
  const key = requireP256(jwk ? createPrivateKey({ key: jwk, format: 'jwk' }) : createPrivateKey(text));
  return { kid: toPublicJwk(createPublicKey(key), jwk?.['kid']).kid, key };
}

/** Returns the set of our public keys. */
export function toKeySet(keys: readonly PublicJwk[]): KeySet {
  return createKeySet(keys.map((jwk) => ({ kid: jwk.kid, key: createPublicKey({ key: jwk, format: 'jwk' }), algorithms: ['ES256'] })));
}

/** Converts a P-256 key to a public JWK. `kid` is the thumbprint of the key unless given (RFC 7638). */
export function toPublicJwk(key: KeyObject, kid?: unknown): PublicJwk {
  const { crv, kty, x, y } = (key.type === 'private' ? createPublicKey(key) : key).export({ format: 'jwk' });
  const thumbprint = createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url');
  return { kty: kty ?? '', crv: crv ?? '', x: x ?? '', y: y ?? '', use: 'sig', alg: 'ES256', kid: readKid(kid) ?? thumbprint };
}

/** Writes a JWKS. */
export function formatKeySet(keys: readonly JsonWebKey[]): string {
  return `${JSON.stringify({ keys }, null, 2)}\n`;
}

/**
 * Reads the usable keys of another issuer's JWKS: RSA keys from 2048 bits and keys on P-256, P-384 and P-521, for signatures, with one of
 * `algorithms`. Others are ignored, symmetric keys among them. Throws when no key is usable.
 */
export function readIssuerKeys(document: unknown, algorithms: readonly string[]): KeySet {
  const keys = readKeys(document).flatMap((jwk): VerificationKey[] => {
    const usable = algorithmsOf(jwk).filter((algorithm) => algorithms.includes(algorithm));
    return usable.length === 0 ? [] : [{ kid: readKid(jwk['kid']), key: createPublicKey({ key: jwk, format: 'jwk' }), algorithms: usable }];
  });
  if (keys.length === 0) throw new Error('The key set has no key that can be used.');
  return createKeySet(keys);
}

function algorithmsOf(jwk: JsonWebKey): readonly string[] {
  const { use, key_ops: operations, alg } = jwk;
  if ((use !== undefined && use !== 'sig') || (Array.isArray(operations) && !operations.includes('verify'))) return [];
  if (jwk.kty !== 'RSA' && jwk.kty !== 'EC') return [];
  let key: KeyObject;
  try {
    key = createPublicKey({ key: jwk, format: 'jwk' });
  } catch {
    return [];
  }
  const { namedCurve = '', modulusLength = 0 } = key.asymmetricKeyDetails ?? {};
  const ofType = key.asymmetricKeyType === 'rsa' ? (modulusLength >= MIN_RSA_BITS ? RSA_ALGORITHMS : []) : CURVE_ALGORITHMS.get(namedCurve);
  return (ofType ?? []).filter((algorithm) => alg === undefined || alg === algorithm);
}

function readKeys(document: unknown): JsonWebKey[] {
  const keys = (document as { readonly keys?: unknown } | null)?.keys;
  if (!Array.isArray(keys) || keys.length > MAX_KEYS)
    throw new Error(`The document is not a JSON Web Key Set of at most ${String(MAX_KEYS)} keys.`);
  return keys.filter((jwk): jwk is JsonWebKey => typeof jwk === 'object' && jwk !== null);
}

function readKid(kid: unknown): string | undefined {
  return typeof kid === 'string' && kid !== '' ? kid : undefined;
}

function isJson(text: string): boolean {
  return text.trimStart().startsWith('{');
}

function requireP256(key: KeyObject): KeyObject {
  if (key.asymmetricKeyType !== 'ec' || key.asymmetricKeyDetails?.namedCurve !== 'prime256v1')
    throw new Error('The token key must be an EC key on the curve P-256.');
  return key;
}
