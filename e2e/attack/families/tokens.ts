/** False access tokens at every transport (RFC 7519, RFC 8725, RFC 9068): none may ever show data. */
import { type KeyObject, constants, createHmac, createPrivateKey, generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { type Attack, type Field, demand, requireOwn } from '../attack.ts';
import type { OwnSystem } from '../target/system.ts';
import { ask, askGraphql, countStatuses, inParallel } from '../wire/http.ts';
import type { RawReply } from '../wire/http-reply.ts';
import { openRawSocket } from '../wire/web-socket.ts';

type Claims = Readonly<Record<string, unknown>>;

const encode = (value: unknown) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

function signEs256(header: Claims, claims: unknown, key: KeyObject): string {
  const text = `${encode(header)}.${encode(claims)}`;
  return `${text}.${sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`;
}

/** The `Authorization` values, each with the reason why it is false. */
function makeFalse({ privateKeyPem, publicKeyPem, accounts }: OwnSystem): [reason: string, authorization: string][] {
  const key = createPrivateKey(privateKeyPem);
  const other = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' });
  const now = Math.floor(Date.now() / 1000);
  const admin = accounts.find(({ role }) => role === 'ADMIN')?.userId ?? '';
  const claims = { iss: 'trestle', aud: 'trestle-api', sub: admin, role: 'ADMIN', gen: 0, jti: randomUUID(), iat: now, exp: now + 600 };
  const header = { alg: 'ES256', typ: 'at+jwt' };
  const good = signEs256(header, claims, key);
  const [head = '', body = '', signature = ''] = good.split('.');
  const withClaims = (change: Claims): string => signEs256(header, { ...claims, ...change }, key);
  const forged = (change: Claims): string => signEs256({ ...header, ...change }, claims, other.privateKey);
  const critical = (change: Claims): string => signEs256({ ...header, ...change }, claims, key);
  const unsigned = (alg: string, mac = '') => `${encode({ alg, typ: 'at+jwt' })}.${body}.${mac}`;
  const hmac = (alg: string, secret: string) => {
    const text = `${encode({ alg, typ: 'at+jwt' })}.${body}`;
    return `${text}.${createHmac(alg.replace('HS', 'sha'), secret).update(text).digest('base64url')}`;
  };
  const rsaSigned = (alg: string, padding?: number) => {
    const text = `${encode({ alg, typ: 'at+jwt' })}.${body}`;
    return `${text}.${sign('sha256', Buffer.from(text), { key: rsa.privateKey, ...(padding && { padding }) }).toString('base64url')}`;
  };
  const bytes = Buffer.from(signature, 'base64url');
  const order = BigInt('0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551');
  const high = (order - BigInt(`0x${bytes.subarray(32).toString('hex')}`)).toString(16).padStart(64, '0');
  const jwk = other.publicKey.export({ format: 'jwk' });
  const tokens: [string, string][] = [
    ...['none', 'None', 'NONE', 'nOnE', ''].flatMap((alg): [string, string][] => [
      [`alg ${alg || 'empty'} without a signature`, unsigned(alg)],
      [`alg ${alg || 'empty'} with a signature`, unsigned(alg, signature)],
    ]),
    ...['HS256', 'HS384', 'HS512'].flatMap((alg): [string, string][] => [
      [`${alg} with the public key`, hmac(alg, publicKeyPem)],
      [`${alg} with the trimmed public key`, hmac(alg, publicKeyPem.trim())],
      [`${alg} with an empty secret`, hmac(alg, '')],
    ]),
    ['RS256', rsaSigned('RS256')],
    ['PS256', rsaSigned('PS256', constants.RSA_PKCS1_PSS_PADDING)],
    ['RS256 named ES256', rsaSigned('ES256')],
    ['ES384 by another curve', signEs256({ ...header, alg: 'ES384' }, claims, p384.privateKey)],
    ['ES256 by another curve', signEs256(header, claims, p384.privateKey)],
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
    ['typ JWT', critical({ typ: 'JWT' })],
    ['no typ', critical({ typ: undefined })],
    ['typ of a list', critical({ typ: ['at+jwt'] })],
    ['expired', withClaims({ iat: now - 2000, exp: now - 1500 })],
    ['expired a minute ago', withClaims({ iat: now - 660, exp: now - 60 })],
    ['not yet valid', withClaims({ nbf: now + 600 })],
    ['ten years', withClaims({ exp: now + 315_360_000 })],
    ['no end', withClaims({ exp: undefined })],
    ['end as a string', withClaims({ exp: String(now + 600) })],
    ['end beyond numbers', withClaims({ exp: 1e308 })],
    ['negative times', withClaims({ iat: -1 })],
    ['no begin', withClaims({ iat: undefined })],
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
    ['claims that are no object', signEs256(header, 'null', key)],
    ['claims of a list', signEs256(header, '[]', key)],
    ['truncated signature', `${head}.${body}.${signature.slice(0, -2)}`],
    ['no signature', `${head}.${body}.`],
    ['two parts', `${head}.${body}`],
    ['four parts', `${good}.x`],
    ['signature of zeros', `${head}.${body}.${Buffer.alloc(64).toString('base64url')}`],
    ['signature in DER', `${head}.${body}.${sign('sha256', Buffer.from(`${head}.${body}`), key).toString('base64url')}`],
    ['longer signature', `${head}.${body}.${Buffer.concat([bytes, Buffer.alloc(1)]).toString('base64url')}`],
    ['changed claims', `${head}.${encode({ ...claims, sub: 'usr_1' })}.${signature}`],
    ['changed header', `${encode({ ...header, kid: '1' })}.${body}.${signature}`],
    [
      'malleated to (r, n − s) and cut',
      `${head}.${body}.${Buffer.from(bytes.subarray(0, 32).toString('hex') + high, 'hex')
        .subarray(0, 63)
        .toString('base64url')}`,
    ],
    ['one megabyte', `${head}.${'A'.repeat(1_000_000)}.${signature}`],
    ['dots', '.'.repeat(500)],
    ['empty', ''],
    ['null', 'null'],
    ['deep claims', signEs256(header, `${'{"a":'.repeat(3000)}1${'}'.repeat(3000)}`, key)],
  ];
  return [
    ...tokens.map(([reason, token]): [string, string] => [reason, `Bearer ${token}`]),
    ['another scheme', `Basic ${good}`],
    ['two tokens in one', `Bearer ${good} ${good}`],
    ['list of tokens', `Bearer ${good}, Bearer ${good}`],
    ['no scheme', good],
    ['quoted', `Bearer "${good}"`],
  ];
}

const SECRET = /@example\.com|"accessToken"|"email":"(?!\*)/;
const QUERY = '{me{id email} usersConnection(first:1){edges{node{email}}}}';
const ALLOWED = new Set([400, 401, 413, 431]);

function check({ status, body }: RawReply, about: string): void {
  demand(ALLOWED.has(status), `${about}: status ${status}: ${body.toString().slice(0, 200)}`);
  demand(!SECRET.test(body.toString()), `${about}: data was shown`);
}

async function overRest(field: Field): Promise<string> {
  const false_ = makeFalse(requireOwn(field));
  const replies = await inParallel(false_.length, 8, async (n) => {
    const [reason = '', authorization = ''] = false_[n] ?? [];
    const reply = await ask(field.connections, field.addresses['rest-bridge'], {
      path: '/v1/users?fields=id,email',
      headers: ['Authorization', authorization],
    });
    check(reply, reason);
    return reply;
  });
  return `${false_.length} false tokens: ${countStatuses(replies)}`;
}

async function overGraphql(field: Field, target: 'gateway' | 'users' | 'orders' | 'content'): Promise<string> {
  const false_ = makeFalse(requireOwn(field));
  const query = {
    gateway: QUERY,
    users: QUERY,
    orders: '{ordersConnection{edges{node{id}}}}',
    content: '{postsConnection{edges{node{id}}}}',
  }[target];
  const replies = await inParallel(false_.length, 8, async (n) => {
    const [reason = '', authorization = ''] = false_[n] ?? [];
    const reply = await askGraphql(field.connections, field.addresses[target], { query }, { headers: ['Authorization', authorization] });
    check(reply, reason);
    return reply;
  });
  return `${false_.length} false tokens: ${countStatuses(replies)}`;
}

async function overSockets(field: Field): Promise<string> {
  const false_ = makeFalse(requireOwn(field));
  const codes = await inParallel(false_.length, 8, async (n) => {
    const [reason = '', authorization = ''] = false_[n] ?? [];
    const socket = await openRawSocket(field.connections, field.addresses.gateway);
    socket.send({ type: 'connection_init', payload: { authorization } });
    socket.send({ id: '1', type: 'subscribe', payload: { query: QUERY } });
    await socket.message(({ type }) => type === 'next', 2000);
    const status = socket.closeCode() ?? 0;
    const text = socket.connection.received().toString();
    demand([4400, 4401, 4403, 1009].includes(status), `${reason}: closed with ${status} (0: open)`);
    demand(!SECRET.test(text), `${reason}: data was shown`);
    return { status };
  });
  return `${false_.length} false tokens: ${countStatuses(codes)}`;
}

/** A good token in a place or a shape where it must not count, and headers that name a caller. */
async function misplaced(field: Field): Promise<string> {
  const own = requireOwn(field);
  const admin = own.accounts.find(({ role }) => role === 'ADMIN')?.userId ?? '';
  const token = own.issueToken({ id: admin, role: 'ADMIN' });
  const names = [
    'X-User-Id',
    'X-User-ID',
    'X-Role',
    'X-Roles',
    'X-Caller',
    'X-Forwarded-User',
    'X-Remote-User',
    'Remote-User',
    'X-Auth-User',
    'X-Authenticated-Userid',
    'X-Trestle-Caller',
    'X-Trestle-Role',
    'X-Original-Authorization',
    'X-Authorization',
    'Proxy-Authorization',
  ];
  const forged = names.flatMap((name) => [
    [name, admin],
    [name, 'ADMIN'],
    [name, `Bearer ${token}`],
  ]);
  const twice = [
    ['Authorization', `Bearer ${token}`, 'Authorization', `Bearer ${token}`],
    ['Authorization', `Bearer ${token}`, 'authorization', 'Bearer x'],
    ['Authorization', `Bearer ${token}`, 'X-API-Key', 'x'],
  ];
  let anonymous = 0;
  for (const target of ['gateway', 'users'] as const) {
    for (const headers of forged) {
      const reply = await askGraphql(field.connections, field.addresses[target], { query: '{me{id email}}' }, { headers });
      demand(!SECRET.test(reply.body.toString()), `${target}: ${headers.join(': ').slice(0, 60)} was taken for a caller`);
      anonymous++;
    }
    for (const headers of twice) {
      const reply = await askGraphql(field.connections, field.addresses[target], { query: '{me{id email}}' }, { headers });
      demand(ALLOWED.has(reply.status), `${target}: two credentials: status ${reply.status}`);
    }
  }
  for (const path of [
    `/v1/users?access_token=${token}`,
    `/v1/users?token=${token}&fields=id,email`,
    `/v1/users?authorization=Bearer%20${token}`,
  ]) {
    const { body } = await ask(field.connections, field.addresses['rest-bridge'], { path });
    demand(!SECRET.test(body.toString()), `a token in the URL was taken`);
  }
  return `${anonymous} forged headers stayed anonymous; two credentials refused`;
}

const entry = (name: string, target: Attack['target'], run: Attack['run']): Attack => ({
  name,
  target,
  family: 'tokens',
  clause: 'RFC 8725, RFC 9068: 401, 4403 or 400, never data',
  needs: 'own',
  isShort: true,
  run,
});

export const TOKEN_ATTACKS: readonly Attack[] = [
  entry('false tokens over REST', 'rest-bridge', overRest),
  ...(['gateway', 'users', 'orders', 'content'] as const).map((target) =>
    entry(`false tokens over GraphQL at ${target}`, target, (field) => overGraphql(field, target)),
  ),
  entry('false tokens in connection_init', 'gateway', overSockets),
  entry('misplaced tokens and forged identity headers', 'users', misplaced),
];
