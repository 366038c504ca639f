/** Tokens of a real provider over HTTP, which signs with another library. */
import { createHmac } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createLog } from '@trestle/log';
import { exportSPKI, importJWK } from 'jose';
import { type ForeignTokenTests, REJECTED, startForeignTokenTests } from './test-foreign-tokens.ts';

/** What is logged with the level debug. */
const explained: string[] = [];
const log = {
  ...createLog({ service: 'test', level: 'silent' }),
  debug: (message: string, { error }: { error?: unknown } = {}) => void explained.push(`${message}: ${(error as Error).message}`),
};

let provider: ForeignTokenTests['provider'];
let open: ForeignTokenTests['open'];
let reset: ForeignTokenTests['reset'];

beforeAll(async () => {
  ({ provider, open, reset } = await startForeignTokenTests(log));
});
afterAll(() => provider.close());
afterEach(async () => {
  explained.length = 0;
  await reset();
});

describe('a token of another issuer', () => {
  it('identifies a caller whose ids are never those of an account, token, session or client of ours', async () => {
    const { verifier } = await open();
    const token = await provider.sign({
      sub: 'usr_1',
      jti: 'j',
      sid: 'ses_1',
      client_id: 'app',
      realm: { roles: ['staff'] },
      scope: 'shop.read x',
    });
    expect(verifier.verify(token)).toMatchObject({
      userId: 'acme:usr_1',
      role: 'MODERATOR',
      tokenId: 'acme:j',
      sessionId: 'acme:ses_1',
      clientId: 'acme:app',
      generation: 0,
      scopes: new Set(['orders:read', 'berths:read']),
      plan: 'pro',
      requestsPerMinute: null,
    });
  });

  it('has the highest of its roles, no role and no scope by names such as __proto__, and else the default', async () => {
    const { verifier } = await open();
    const roleOf = async (roles: unknown) => verifier.verify(await provider.sign({ realm: { roles }, scope: '__proto__ constructor' }));
    expect(await roleOf(['staff', 'boss'])).toMatchObject({ role: 'ADMIN', scopes: new Set() });
    for (const roles of [[], ['__proto__', 'constructor'], 7, { staff: true }, 'ADMIN'])
      expect(await roleOf(roles)).toMatchObject({ role: 'USER' });
  });

  it('has the scopes that it names where they are not mapped, but never that of accounts of ours', async () => {
    const { verifier } = await open({ scopes: { claim: 'scope' } });
    const token = await provider.sign({ scope: 'pii:read account:manage orders:read' });
    expect(verifier.verify(token)).toMatchObject({ scopes: new Set(['pii:read', 'orders:read']) });
  });

  it('needs no jti where its issuer sets none, and has an id of its own', async () => {
    const { verifier } = await open({ requireJti: false });
    const [one, other] = await Promise.all([provider.sign({ jti: undefined as never }), provider.sign({ jti: undefined as never, n: 2 })]);
    const ids = [one, other, one].map((token) => verifier.verify(token).tokenId);
    expect(ids[0]).toMatch(/^acme:[\w-]{43}$/);
    expect([ids[0] === ids[1], ids[0] === ids[2]]).toEqual([false, true]);
    expect(verifier.verify(await provider.sign({ jti: 'j' }))).toMatchObject({ tokenId: 'acme:j' });
  });

  it('is refused when no role maps and there is no default', async () => {
    const { verifier } = await open({ roles: { claim: 'groups', map: { staff: 'USER' } } });
    expect(verifier.verify(await provider.sign({ groups: 'other staff' }))).toMatchObject({ role: 'USER' });
    const token = await provider.sign({ groups: ['other'] });
    expect(() => verifier.verify(token)).toThrow(REJECTED);
  });

  const now = () => Math.floor(Date.now() / 1000);
  it.each([
    ['another audience', () => provider.sign({ aud: 'other' })],
    ['an issuer that is not trusted', () => provider.sign({ iss: 'https://evil.example' })],
    ['our issuer', () => provider.sign({ iss: 'trestle', aud: 'trestle-api', role: 'ADMIN', gen: 0 })],
    ['no jti', () => provider.sign({ jti: undefined as never })],
    ['no subject', () => provider.sign({ sub: undefined as never })],
    ['a subject with a line break', () => provider.sign({ sub: 'a\nb' })],
    ['a subject of 256 characters', () => provider.sign({ sub: 'a'.repeat(256) })],
    ['an end in the past', () => provider.sign({ iat: now() - 900, exp: now() - 30 })],
    ['a begin in the future', () => provider.sign({ nbf: now() + 60 })],
    ['an issue in the future', () => provider.sign({ iat: now() + 60, exp: now() + 120 })],
    ['a lifetime of ten years', () => provider.sign({ exp: now() + 315_360_000 })],
    ['no end', () => provider.sign({ exp: undefined as never })],
    ['the type of an id token', () => provider.sign({}, { typ: 'JWT' })],
    ['an unknown key id', () => provider.sign({}, { kid: '../../../etc/passwd' })],
    ['the key id __proto__', () => provider.sign({}, { kid: '__proto__' })],
    ['an unknown critical header', () => provider.sign({}, { crit: ['b64'], b64: true })],
  ])('is refused with %s', async (_, sign) => {
    const { verifier } = await open();
    const token = await sign();
    expect(() => verifier.verify(token)).toThrow(REJECTED);
  });

  it('may live for as long as its issuer is allowed, an hour by default, and the log says why it is refused', async () => {
    const sign = (seconds: number) => provider.sign({ iat: now(), exp: now() + seconds });
    const [hour, longer] = [await open(), await open({ maxLifetimeSeconds: 86_400 })];
    const [day, tooLong] = [await sign(86_400), await sign(86_401)];
    expect(longer.verifier.verify(day)).toMatchObject({ userId: 'acme:bob' });
    for (const [verifier, token, reason] of [
      [hour.verifier, day, 'it lives for 86400 s, more than `maxLifetimeSeconds` (3600)'],
      [longer.verifier, tooLong, 'it lives for 86401 s, more than `maxLifetimeSeconds` (86400)'],
    ] as const) {
      expect(() => verifier.verify(token)).toThrow(REJECTED);
      expect(explained.splice(0)).toEqual([`refused a token of acme: ${reason}`]);
    }
  });

  it('is refused when it is signed symmetrically with the public key, or by an algorithm that is not configured', async () => {
    const { verifier } = await open({ algorithms: ['ES256'] });
    const [jwk] = provider.keys;
    const pem = await exportSPKI((await importJWK(jwk ?? {}, 'ES256')) as Parameters<typeof exportSPKI>[0]);
    const [, body = ''] = (await provider.sign()).split('.');
    const head = Buffer.from(JSON.stringify({ alg: 'HS256', typ: 'at+jwt', kid: 'first' })).toString('base64url');
    const mac = createHmac('sha256', pem).update(`${head}.${body}`).digest('base64url');
    expect(() => verifier.verify(`${head}.${body}.${mac}`)).toThrow(REJECTED);
    await provider.rotate('rsa', 'RS256');
    const token = await provider.sign();
    expect(() => verifier.verify(token)).toThrow(REJECTED);
  });

  it('is valid after its end for the clock tolerance of its issuer, also when it was verified before', async () => {
    const exp = Math.floor(Date.now() / 1000);
    const token = await provider.sign({ iat: exp - 600, exp });
    let seconds = exp + 119;
    const tolerant = await open({ clockToleranceSeconds: 120 }, () => seconds * 1000);
    const caller = tolerant.verifier.verify(token);
    expect([tolerant.verifier.isValid(caller), tolerant.verifier.verify(token)]).toEqual([true, caller]);
    seconds = exp + 120;
    expect(tolerant.verifier.isValid(caller)).toBe(false);
    expect(() => tolerant.verifier.verify(token)).toThrow(REJECTED);
    seconds = exp - 1;
    const exact = await open({ clockToleranceSeconds: 0 }, () => seconds * 1000);
    exact.verifier.verify(token);
    seconds = exp;
    expect(() => exact.verifier.verify(token)).toThrow(REJECTED);
  });

  it('is refused once it is revoked, which leaves tokens of ours with the same ids alone', async () => {
    const { verifier, revocations } = await open();
    const token = await provider.sign({ sub: 'usr_1', jti: 'j' });
    const { userId, tokenId } = verifier.verify(token);
    revocations.add({ userId: 'usr_1', tokenId: 'j' });
    expect(verifier.verify(token)).toMatchObject({ userId });
    revocations.add({ userId, tokenId });
    expect(() => verifier.verify(token)).toThrow(REJECTED);
  });
});
