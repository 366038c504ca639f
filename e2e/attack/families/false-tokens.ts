/** Access tokens that are false, each with the reason why (RFC 7519, RFC 8725, RFC 9068). Pure but for fresh keys. */
import { type KeyObject, constants, createHmac, createPrivateKey, generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { type OwnSystem, findAccount } from '../target/system.ts';

export type FalseToken = readonly [reason: string, authorization: string];
type Named = [reason: string, token: string];
type Claims = Readonly<Record<string, unknown>>;

interface Material {
  readonly key: KeyObject;
  /** A key of another issuer on the same curve. */
  readonly other: { readonly privateKey: KeyObject; readonly publicKey: KeyObject };
  readonly publicKeyPem: string;
  readonly admin: string;
  /** Seconds since 1970. */
  readonly now: number;
  readonly claims: Claims;
  /** A token that is right in every respect. */
  readonly good: string;
}

const HEADER = { alg: 'ES256', typ: 'at+jwt' };
/** Of the group of P-256: (r, n − s) signs the same as (r, s). */
const ORDER = BigInt('0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551');

/** Values of `Authorization` that must never be taken. */
export function makeFalseTokens(own: OwnSystem): FalseToken[] {
  const material = createMaterial(own);
  const { good } = material;
  const tokens = [...byAlgorithm(material), ...byHeader(material), ...byClaims(material), ...bySignature(material)];
  return [
    ...tokens.map(([reason, token]): FalseToken => [reason, `Bearer ${token}`]),
    ['another scheme', `Basic ${good}`],
    ['two tokens in one', `Bearer ${good} ${good}`],
    ['list of tokens', `Bearer ${good}, Bearer ${good}`],
    ['no scheme', good],
    ['quoted', `Bearer "${good}"`],
  ];
}

/** Returns a token of an account that is right in every respect, with further claims. */
export function signToken(
  own: OwnSystem,
  { account, claims }: { readonly account: 'admin' | 'ada' | 'bob'; readonly claims: Claims },
): string {
  return signEs256(HEADER, { ...claimsOf(own, account), ...claims }, createPrivateKey(own.privateKeyPem));
}

/** Returns the token with the other signature of the same text that the same key makes: (r, n − s) for (r, s). */
export function malleate(token: string): string {
  const [head = '', body = '', signature = ''] = token.split('.');
  return `${head}.${body}.${toHighHalf(Buffer.from(signature, 'base64url')).toString('base64url')}`;
}

function claimsOf(own: OwnSystem, name: 'admin' | 'ada' | 'bob') {
  const { userId, role, tokenGeneration } = findAccount(own, name);
  const now = Math.floor(Date.now() / 1000);
  return { iss: 'trestle', aud: 'trestle-api', sub: userId, role, gen: tokenGeneration, jti: randomUUID(), iat: now, exp: now + 600 };
}

function createMaterial(own: OwnSystem): Material {
  const { privateKeyPem, publicKeyPem } = own;
  const key = createPrivateKey(privateKeyPem);
  const other = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const claims = claimsOf(own, 'admin');
  const { sub: admin, iat: now } = claims;
  return { key, other, publicKeyPem, admin, now, claims, good: signEs256(HEADER, claims, key) };
}

function byAlgorithm({ good, publicKeyPem, claims }: Material): Named[] {
  const [, body = '', signature = ''] = good.split('.');
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' });
  const unsigned = (alg: string, mac = '') => `${encode({ alg, typ: 'at+jwt' })}.${body}.${mac}`;
  const hmac = (alg: string, secret: string) => {
    const text = `${encode({ alg, typ: 'at+jwt' })}.${body}`;
    return `${text}.${createHmac(alg.replace('HS', 'sha'), secret).update(text).digest('base64url')}`;
  };
  const rsaSigned = (alg: string, padding?: number) => {
    const text = `${encode({ alg, typ: 'at+jwt' })}.${body}`;
    return `${text}.${sign('sha256', Buffer.from(text), { key: rsa.privateKey, ...(padding && { padding }) }).toString('base64url')}`;
  };
  return [
    ...['none', 'None', 'NONE', 'nOnE', ''].flatMap((alg): Named[] => [
      [`alg ${alg || 'empty'} without a signature`, unsigned(alg)],
      [`alg ${alg || 'empty'} with a signature`, unsigned(alg, signature)],
    ]),
    ...['HS256', 'HS384', 'HS512'].flatMap((alg): Named[] => [
      [`${alg} with the public key`, hmac(alg, publicKeyPem)],
      [`${alg} with the trimmed public key`, hmac(alg, publicKeyPem.trim())],
      [`${alg} with an empty secret`, hmac(alg, '')],
    ]),
    ['RS256', rsaSigned('RS256')],
    ['PS256', rsaSigned('PS256', constants.RSA_PKCS1_PSS_PADDING)],
    ['RS256 named ES256', rsaSigned('ES256')],
    ['ES384 by another curve', signEs256({ ...HEADER, alg: 'ES384' }, claims, p384.privateKey)],
    ['ES256 by another curve', signEs256(HEADER, claims, p384.privateKey)],
  ];
}

function byHeader({ key, other, claims }: Material): Named[] {
  const forged = (change: Claims) => signEs256({ ...HEADER, ...change }, claims, other.privateKey);
  const critical = (change: Claims) => signEs256({ ...HEADER, ...change }, claims, key);
  const jwk = other.publicKey.export({ format: 'jwk' });
  return [
    ['another key', forged({})],
    ['kid of a file', forged({ kid: '../../../../dev/null' })],
    ['kid of SQL', forged({ kid: "' UNION SELECT 'a" })],
    ['kid __proto__', forged({ kid: '__proto__' })],
    ['embedded jwk', forged({ jwk })],
    ['jku', forged({ jku: 'http://127.0.0.1:9/jwks.json' })],
    ['x5u', forged({ x5u: 'http://127.0.0.1:9/cert.pem' })],
    ['x5c', forged({ x5c: ['MIIB'] })],
    ['unknown crit', critical({ crit: ['exp', 'x'], x: 1 })],
    ['empty crit', critical({ crit: [] })],
    ['b64 false', critical({ b64: false, crit: ['b64'] })],
    ['kid of a file, by our key', critical({ kid: '../../../../dev/null' })],
    ['kid of SQL, by our key', critical({ kid: "' UNION SELECT 'a" })],
    ['kid __proto__, by our key', critical({ kid: '__proto__' })],
    ['kid of a number', critical({ kid: 1 })],
    ['embedded jwk of our key', critical({ jwk: key.export({ format: 'jwk' }) })],
    ['jku, by our key', critical({ jku: 'http://127.0.0.1:9/jwks.json' })],
    ['x5u, by our key', critical({ x5u: 'http://127.0.0.1:9/cert.pem' })],
    ['alg twice', signEs256('{"alg":"none","alg":"ES256","typ":"at+jwt"}', claims, key)],
    ['typ JWT', critical({ typ: 'JWT' })],
    ['no typ', critical({ typ: undefined })],
    ['typ of a list', critical({ typ: ['at+jwt'] })],
  ];
}

function byClaims({ key, claims, now, admin }: Material): Named[] {
  const withClaims = (change: Claims) => signEs256(HEADER, { ...claims, ...change }, key);
  return [
    ['expired', withClaims({ iat: now - 2000, exp: now - 1500 })],
    ['expired a minute ago', withClaims({ iat: now - 660, exp: now - 60 })],
    ['not yet valid', withClaims({ nbf: now + 600 })],
    ['ten years', withClaims({ exp: now + 315_360_000 })],
    ['no end', withClaims({ exp: undefined })],
    ['end as a string', withClaims({ exp: String(now + 600) })],
    ['end beyond numbers', withClaims({ exp: 1e308 })],
    ['negative times', withClaims({ iat: -1 })],
    ['no begin', withClaims({ iat: undefined })],
    ['issued in the future', withClaims({ iat: now + 300, exp: now + 900 })],
    ['session of a number', withClaims({ sid: 1 })],
    ['unknown plan', withClaims({ plan: 'gold' })],
    ['negative requests per minute', withClaims({ rpm: -1 })],
    ['list of scopes', withClaims({ scope: ['users:read'] })],
    ['another issuer', withClaims({ iss: 'evil' })],
    ['no issuer', withClaims({ iss: undefined })],
    ['list of issuers', withClaims({ iss: ['trestle', 'evil'] })],
    ['another audience', withClaims({ aud: 'other' })],
    ['no audience', withClaims({ aud: undefined })],
    ['no jti', withClaims({ jti: undefined })],
    ['jti of a number', withClaims({ jti: 1 })],
    ['no subject', withClaims({ sub: undefined })],
    ['subject of an object', withClaims({ sub: { id: admin } })],
    ['unknown role', withClaims({ role: 'ROOT' })],
    ['list of roles', withClaims({ role: ['ADMIN'] })],
    ['generation of a string', withClaims({ gen: '0' })],
    ['broken generation', withClaims({ gen: 0.5 })],
    ['claims that are no object', signEs256(HEADER, 'null', key)],
    ['claims of a list', signEs256(HEADER, '[]', key)],
  ];
}

function bySignature({ good, key, claims }: Material): Named[] {
  const [head = '', body = '', signature = ''] = good.split('.');
  const bytes = Buffer.from(signature, 'base64url');
  return [
    ['truncated signature', `${head}.${body}.${signature.slice(0, -2)}`],
    ['no signature', `${head}.${body}.`],
    ['padded signature', `${good}==`],
    ['two parts', `${head}.${body}`],
    ['four parts', `${good}.x`],
    ['signature of zeros', `${head}.${body}.${Buffer.alloc(64).toString('base64url')}`],
    ['signature in DER', `${head}.${body}.${sign('sha256', Buffer.from(`${head}.${body}`), key).toString('base64url')}`],
    ['longer signature', `${head}.${body}.${Buffer.concat([bytes, Buffer.alloc(1)]).toString('base64url')}`],
    ['changed claims', `${head}.${encode({ ...claims, sub: 'usr_1' })}.${signature}`],
    ['changed header', `${encode({ ...HEADER, kid: '1' })}.${body}.${signature}`],
    ['(r, n − s), cut', `${head}.${body}.${toHighHalf(bytes).subarray(0, 63).toString('base64url')}`],
    ['(s, r)', `${head}.${body}.${Buffer.concat([bytes.subarray(32), bytes.subarray(0, 32)]).toString('base64url')}`],
    ['(r + n, s)', `${head}.${body}.${Buffer.concat([addOrder(bytes.subarray(0, 32)), bytes.subarray(32)]).toString('base64url')}`],
    ['one megabyte', `${head}.${'A'.repeat(1_000_000)}.${signature}`],
    ['dots', '.'.repeat(500)],
    ['empty', ''],
    ['null', 'null'],
    ['deep claims', signEs256(HEADER, `${'{"a":'.repeat(3000)}1${'}'.repeat(3000)}`, key)],
  ];
}

/** Returns (r, n − s) of a signature (r, s). */
function toHighHalf(signature: Buffer): Buffer {
  const s = (ORDER - toNumber(signature.subarray(32))).toString(16).padStart(64, '0');
  return Buffer.concat([signature.subarray(0, 32), Buffer.from(s, 'hex')]);
}

/** Returns a number of 33 bytes that is the same modulo n. */
function addOrder(number: Buffer): Buffer {
  return Buffer.from((ORDER + toNumber(number)).toString(16).padStart(66, '0'), 'hex');
}

function toNumber(bytes: Buffer): bigint {
  return BigInt(`0x${bytes.toString('hex')}`);
}

function signEs256(header: Claims | string, claims: unknown, key: KeyObject): string {
  const text = `${encode(header)}.${encode(claims)}`;
  return `${text}.${sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`;
}

function encode(value: unknown): string {
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
}
