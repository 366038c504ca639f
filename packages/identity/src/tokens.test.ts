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

const REJECTED = 'invalid, expired or revoked';

describe('TokenVerifier.verify', () => {
  it('returns user id, role, token id and generation of an issued token, which expires after 15 minutes', () => {
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

  it('rejects an expired token, also when it verified the token before', () => {
    let now = NOW;
    const clocked = createTokenVerifier({ ...keys, now: () => now });
    const { token } = issuer.issue(account);
    clocked.verify(token);
    now += 906_000;
    expect(() => clocked.verify(token)).toThrow(REJECTED);
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
    ['a generation that is not a number', sign({ gen: '0' })],
    ['an unknown role', sign({ role: 'GOD' })],
    ['a lifetime of more than 15 minutes', sign({ exp: NOW / 1000 + 9000 })],
    ['another type', sign({}, { typ: 'JWT' })],
    ['an unknown critical header', sign({}, { crit: ['b64'] })],
    ['another key', createTokenIssuer({ ...generateTokenKeys(), now: () => NOW }).issue(account).token],
    [
      'no signature',
      `${Buffer.from('{"alg":"none","typ":"at+jwt"}').toString('base64url')}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.`,
    ],
    ['an HMAC whose secret is the public key', hmacToken()],
    ['a payload that is not JSON', 'x.y.z'],
  ])('rejects a token with %s', (_, token) => {
    expect(() => verifier.verify(token)).toThrow(REJECTED);
  });

  function hmacToken(): string {
    const text = `${Buffer.from('{"alg":"HS256","typ":"at+jwt"}').toString('base64url')}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`;
    return `${text}.${createHmac('sha256', keys.publicKeyPem).update(text).digest('base64url')}`;
  }

  it('returns generation 0 for a token without the claim `gen`', () => {
    expect(verifier.verify(sign({ gen: undefined }))).toMatchObject({ generation: 0 });
  });
});

describe('TokenVerifier with revocations', () => {
  const revocations = createRevocations(() => NOW);
  const watchful = createTokenVerifier({ ...keys, now: () => NOW, revocations });
  const issue = (tokenGeneration: number, id = 'usr_1') => issuer.issue({ ...account, id, tokenGeneration }).token;

  it('rejects a revoked token that it verified before, and accepts other tokens of the account', () => {
    const [mine, other] = [issue(0), issue(0)];
    const caller = watchful.verify(mine);
    expect(watchful.isValid(caller)).toBe(true);
    revocations.add({ userId: 'usr_1', tokenId: caller.tokenId });
    expect(watchful.isValid(caller)).toBe(false);
    expect(() => watchful.verify(mine)).toThrow(REJECTED);
    expect(watchful.verify(other)).toMatchObject({ userId: 'usr_1' });
  });

  it('rejects tokens of an account below the revoked generation, and accepts later ones and those of other accounts', () => {
    const [before, after, stranger] = [issue(4), issue(5), issue(0, 'usr_2')];
    revocations.add({ userId: 'usr_1', generation: 5 });
    // An earlier revocation that arrives late.
    revocations.add({ userId: 'usr_1', generation: 2 });
    expect(() => watchful.verify(before)).toThrow(REJECTED);
    expect(watchful.verify(after)).toMatchObject({ generation: 5 });
    expect(watchful.verify(stranger)).toMatchObject({ userId: 'usr_2' });
  });

  it('calls each watcher once when the token is revoked or expires', () => {
    jest.useFakeTimers();
    let now = NOW;
    const known = createRevocations(() => now);
    const clocked = createTokenVerifier({ ...keys, now: () => now, revocations: known });
    const calls: string[] = [];
    const watch = (name: string) => clocked.watch(clocked.verify(issue(0)), () => calls.push(name));
    const [first, ...rest] = ['a', 'b', 'c'].map(watch);
    first?.();
    expect(rest).toHaveLength(2);
    known.add({ userId: 'usr_2', generation: 9 });
    expect(calls).toEqual([]);
    known.add({ userId: 'usr_1', generation: 1 });
    known.add({ userId: 'usr_1', generation: 2 });
    expect(calls).toEqual(['b', 'c']);
    clocked.watch(clocked.verify(issue(2)), () => calls.push('d'));
    now += 905_000;
    jest.advanceTimersByTime(906_000);
    expect(calls).toEqual(['b', 'c', 'd']);
    // A token that was revoked before it is watched.
    const late = clocked.watch({ userId: 'usr_1', role: 'USER', tokenId: 'x', generation: 1, expiresAt: now / 1000 + 60 }, () =>
      calls.push('e'),
    );
    expect(calls).not.toContain('e');
    jest.advanceTimersByTime(1);
    expect(calls.at(-1)).toBe('e');
    late();
    expect(jest.getTimerCount()).toBe(0);
    jest.useRealTimers();
  });

  it('does not call a watcher that another watcher of the same token has stopped', () => {
    const known = createRevocations(() => NOW);
    const clocked = createTokenVerifier({ ...keys, now: () => NOW, revocations: known });
    const calls: string[] = [];
    const caller = clocked.verify(issue(0));
    const stops: (() => void)[] = [];
    for (const name of ['a', 'b'])
      stops.push(
        clocked.watch(caller, () => {
          calls.push(name);
          for (const stop of stops) stop();
        }),
      );
    known.add({ userId: 'usr_1', generation: 1 });
    expect(calls).toEqual(['a']);
  });
});

describe('readBearerToken', () => {
  it('returns the bearer token, or undefined when the request has no credential', () => {
    expect(readBearerToken(['Authorization', 'Bearer a.b.c'])).toBe('a.b.c');
    expect(readBearerToken(['Accept', 'Bearer a.b.c'])).toBeUndefined();
  });

  it('rejects two credentials, and a credential of another scheme', () => {
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

describe('hasRole', () => {
  it('returns whether the role of the caller is at least the given one', () => {
    const caller = { userId: 'u', role: 'MODERATOR' as const, tokenId: 't', generation: 0, expiresAt: 0 };
    expect([hasRole(null, 'USER'), hasRole(caller, 'USER'), hasRole(caller, 'MODERATOR'), hasRole(caller, 'ADMIN')]).toEqual([
      false,
      true,
      true,
      false,
    ]);
  });
});
