import { createHmac, createPrivateKey } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import jwt from 'jsonwebtoken';
import { hasRole, readBearerToken } from './identity.ts';
import { createTokenIssuer, createTokenVerifier, generateTokenKeys } from './tokens.ts';

const keys = generateTokenKeys();
const NOW = 1_795_000_000_000;
const issuer = createTokenIssuer({ ...keys, now: () => NOW });
const verifier = createTokenVerifier({ ...keys, now: () => NOW });
const account = { id: 'usr_1', role: 'ADMIN' as const };

describe('an access token', () => {
  it('says who is calling, lasts 15 minutes and names itself', () => {
    const { token, expiresInSeconds } = issuer.issue(account);
    expect(expiresInSeconds).toBe(900);
    expect(verifier.verify(token)).toEqual({
      userId: 'usr_1',
      role: 'ADMIN',
      tokenId: expect.stringMatching(/^[0-9a-f-]{36}$/),
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

  const claims = { iss: 'trestle', aud: 'trestle-api', sub: 'usr_1', role: 'USER', jti: 'j', iat: NOW / 1000, exp: NOW / 1000 + 900 };
  const sign = (changes: object, header: object = {}) =>
    jwt.sign({ ...claims, ...changes }, createPrivateKey(keys.privateKeyPem), {
      algorithm: 'ES256',
      header: { alg: 'ES256', typ: 'at+jwt', ...header },
    });

  it.each([
    ['another issuer', sign({ iss: 'other' })],
    ['another audience', sign({ aud: 'other' })],
    ['no jti', sign({ jti: undefined })],
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
  const caller = { userId: 'u', role: 'MODERATOR' as const, tokenId: 't', expiresAt: 0 };
  expect([hasRole(null, 'USER'), hasRole(caller, 'USER'), hasRole(caller, 'MODERATOR'), hasRole(caller, 'ADMIN')]).toEqual([
    false,
    true,
    true,
    false,
  ]);
});
