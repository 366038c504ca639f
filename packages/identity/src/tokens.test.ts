import { createHmac, createPrivateKey } from 'node:crypto';
import { describe, expect, it, jest } from '@jest/globals';
import jwt from 'jsonwebtoken';
import { hasRole, readBearerToken } from './identity.ts';
import { createRevocations } from './revocations.ts';
import { createTokenIssuer, createTokenVerifier, generateTokenKeys } from './tokens.ts';

const keys = generateTokenKeys();
const NOW = 1_795_000_000_000;
const issuer = createTokenIssuer({ ...keys, now: () => NOW });
const verifier = createTokenVerifier({ ...keys, now: () => NOW });
const account = { id: 'usr_1', role: 'ADMIN' as const, tokenGeneration: 3 };

describe('an access token', () => {
  it('says who is calling, lasts 15 minutes and names itself', () => {
    const { token, expiresInSeconds } = issuer.issue(account);
    expect(expiresInSeconds).toBe(900);
    expect(verifier.verify(token)).toEqual({
      userId: 'usr_1',
      role: 'ADMIN',
      tokenId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      generation: 3,
      expiresAt: NOW / 1000 + 900,
    });
  });

  it('is refused when it has ended, also one that was seen before', () => {
    let now = NOW;
    const clocked = createTokenVerifier({ ...keys, now: () => now });
    const { token } = issuer.issue(account);
    clocked.verify(token);
    now += 906_000;
    expect(() => clocked.verify(token)).toThrow('not valid or has ended');
  });

  const claims = {
    iss: 'trestle',
    aud: 'trestle-api',
    sub: 'usr_1',
    role: 'USER',
    gen: 0,
    jti: 'j',
    iat: NOW / 1000,
    exp: NOW / 1000 + 900,
  };
  const sign = (changes: object, header: object = {}) =>
    jwt.sign({ ...claims, ...changes }, createPrivateKey(keys.privateKeyPem), {
      algorithm: 'ES256',
      header: { alg: 'ES256', typ: 'at+jwt', ...header },
    });

  it.each([
    ['another issuer', sign({ iss: 'other' })],
    ['another audience', sign({ aud: 'other' })],
    ['no jti', sign({ jti: undefined })],
    ['a generation that is no number', sign({ gen: '0' })],
    ['an unknown role', sign({ role: 'GOD' })],
    ['a longer life than we give', sign({ exp: NOW / 1000 + 9000 })],
    ['another type', sign({}, { typ: 'JWT' })],
    ['a critical header that we do not know', sign({}, { crit: ['b64'] })],
    ['another key', createTokenIssuer({ ...generateTokenKeys(), now: () => NOW }).issue(account).token],
    [
      'no signature',
      `${Buffer.from('{"alg":"none","typ":"at+jwt"}').toString('base64url')}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.`,
    ],
    ['the public key used as a secret', hmacToken()],
    ['garbage', 'x.y.z'],
  ])('is refused with %s', (_, token) => {
    expect(() => verifier.verify(token)).toThrow('not valid or has ended');
  });

  function hmacToken(): string {
    const text = `${Buffer.from('{"alg":"HS256","typ":"at+jwt"}').toString('base64url')}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`;
    return `${text}.${createHmac('sha256', keys.publicKeyPem).update(text).digest('base64url')}`;
  }
});

it('a token of before there were generations is of the first one', () => {
  const claims = { iss: 'trestle', aud: 'trestle-api', sub: 'usr_1', role: 'USER', jti: 'j', iat: NOW / 1000, exp: NOW / 1000 + 900 };
  const token = jwt.sign(claims, createPrivateKey(keys.privateKeyPem), { algorithm: 'ES256', header: { alg: 'ES256', typ: 'at+jwt' } });
  expect(verifier.verify(token)).toMatchObject({ generation: 0 });
});

describe('a token that is revoked', () => {
  const revocations = createRevocations(() => NOW);
  const watchful = createTokenVerifier({ ...keys, now: () => NOW, revocations });
  const issue = (tokenGeneration: number, id = 'usr_1') => issuer.issue({ ...account, id, tokenGeneration }).token;

  it('holds no longer, though it was seen before, while others of the account do', () => {
    const [mine, other] = [issue(0), issue(0)];
    const caller = watchful.verify(mine);
    expect(watchful.holds(caller)).toBe(true);
    revocations.add({ userId: 'usr_1', tokenId: caller.tokenId });
    expect(watchful.holds(caller)).toBe(false);
    expect(() => watchful.verify(mine)).toThrow('not valid or has ended');
    expect(watchful.verify(other)).toMatchObject({ userId: 'usr_1' });
  });

  it('with all of its account, holds no longer; those given after it do, and those of others', () => {
    const [before, after, stranger] = [issue(4), issue(5), issue(0, 'usr_2')];
    revocations.add({ userId: 'usr_1', generation: 5 });
    // Late news of something that happened earlier.
    revocations.add({ userId: 'usr_1', generation: 2 });
    expect(() => watchful.verify(before)).toThrow('not valid or has ended');
    expect(watchful.verify(after)).toMatchObject({ generation: 5 });
    expect(watchful.verify(stranger)).toMatchObject({ userId: 'usr_2' });
  });

  it('is told to whoever watches it, once; the end of its time as well', () => {
    jest.useFakeTimers();
    let now = NOW;
    const known = createRevocations(() => now);
    const clocked = createTokenVerifier({ ...keys, now: () => now, revocations: known });
    const told: string[] = [];
    const watch = (name: string) => clocked.watch(clocked.verify(issue(0)), () => told.push(name));
    const [first, ...rest] = ['a', 'b', 'c'].map(watch);
    first?.();
    expect(rest).toHaveLength(2);
    known.add({ userId: 'usr_2', generation: 9 });
    expect(told).toEqual([]);
    known.add({ userId: 'usr_1', generation: 1 });
    known.add({ userId: 'usr_1', generation: 2 });
    expect(told).toEqual(['b', 'c']);
    clocked.watch(clocked.verify(issue(2)), () => told.push('d'));
    now += 905_000;
    jest.advanceTimersByTime(906_000);
    expect(told).toEqual(['b', 'c', 'd']);
    // One that was over before it was watched.
    const late = clocked.watch({ userId: 'usr_1', role: 'USER', tokenId: 'x', generation: 1, expiresAt: now / 1000 + 60 }, () =>
      told.push('e'),
    );
    expect(told).not.toContain('e');
    jest.advanceTimersByTime(1);
    expect(told.at(-1)).toBe('e');
    late();
    expect(jest.getTimerCount()).toBe(0);
    jest.useRealTimers();
  });

  it('is not told to whoever was stopped by another one who was told', () => {
    const known = createRevocations(() => NOW);
    const clocked = createTokenVerifier({ ...keys, now: () => NOW, revocations: known });
    const told: string[] = [];
    const caller = clocked.verify(issue(0));
    const stops: (() => void)[] = [];
    for (const name of ['a', 'b'])
      stops.push(
        clocked.watch(caller, () => {
          told.push(name);
          for (const stop of stops) stop();
        }),
      );
    known.add({ userId: 'usr_1', generation: 1 });
    expect(told).toEqual(['a']);
  });
});

describe('a credential in the headers', () => {
  it('is a bearer token, or absent', () => {
    expect(readBearerToken(['Authorization', 'Bearer a.b.c'])).toBe('a.b.c');
    expect(readBearerToken(['Accept', 'Bearer a.b.c'])).toBeUndefined();
  });

  it('is refused when there are two, or it is of another scheme', () => {
    expect(() => readBearerToken(['authorization', 'Bearer a', 'Authorization', 'Bearer b'])).toThrow('exactly one');
    expect(() => readBearerToken(['authorization', 'Bearer a', 'X-API-Key', 'k'])).toThrow('exactly one');
    for (const header of [
      ['authorization', 'Basic YTpi'],
      ['authorization', 'ApiKey k'],
      ['X-API-Key', 'k'],
    ]) {
      expect(() => readBearerToken(header)).toThrow('not a bearer token');
    }
  });
});

it('orders the roles: USER, MODERATOR, ADMIN', () => {
  const caller = { userId: 'u', role: 'MODERATOR' as const, tokenId: 't', generation: 0, expiresAt: 0 };
  expect([hasRole(null, 'USER'), hasRole(caller, 'USER'), hasRole(caller, 'MODERATOR'), hasRole(caller, 'ADMIN')]).toEqual([
    false,
    true,
    true,
    false,
  ]);
});
