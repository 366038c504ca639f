import { createHmac, createPrivateKey, createPublicKey } from 'node:crypto';
import { describe, expect, it, jest } from '@jest/globals';
import jwt from 'jsonwebtoken';
import { hasRole } from '../identity.ts';
import { createRevocations } from '../revocations/revocations.ts';
import { ALL_SCOPES } from '../scopes.ts';
import { createTestCaller } from '../tokens/test-identity.ts';
import { createTokenVerifier } from './token-verifier.ts';
import { type TokenGrant, createTokenIssuer, generateTokenKeys } from '../tokens/tokens.ts';

const keys = generateTokenKeys();
const NOW = 1_795_000_000_000;
const issuer = createTokenIssuer({ ...keys, now: () => NOW });
const verifier = createTokenVerifier({ ...keys, now: () => NOW });
const account: TokenGrant = {
  id: 'usr_1',
  role: 'ADMIN',
  tokenGeneration: 3,
  plan: 'enterprise',
  requestsPerMinute: 5000,
  sessionId: 'ses_1',
};

const REJECTED = 'invalid, expired or revoked';

describe('TokenVerifier.verify', () => {
  it('returns what an issued token contains, which expires after 15 minutes', () => {
    const { token, expiresInSeconds } = issuer.issue(account);
    expect(expiresInSeconds).toBe(900);
    expect(verifier.verify(token)).toEqual({
      userId: 'usr_1',
      role: 'ADMIN',
      tokenId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      generation: 3,
      expiresAt: NOW / 1000 + 900,
      sessionId: 'ses_1',
      scopes: ALL_SCOPES,
      clientId: null,
      plan: 'enterprise',
      requestsPerMinute: 5000,
    });
  });

  it('returns scopes, client and lifetime of a token that has its own', () => {
    const grant = { ...account, scopes: new Set(['orders:read'] as const), clientId: 'app', lifetimeSeconds: 60 };
    const { token, expiresInSeconds } = issuer.issue(grant);
    expect(expiresInSeconds).toBe(60);
    expect(verifier.verify(token)).toMatchObject({ scopes: new Set(['orders:read']), clientId: 'app', expiresAt: NOW / 1000 + 60 });
    expect(verifier.verify(issuer.issue({ ...account, scopes: new Set() }).token).scopes.size).toBe(0);
    for (const lifetimeSeconds of [0, 901, 1.5, NaN]) expect(() => issuer.issue({ ...account, lifetimeSeconds })).toThrow('1 to 900');
  });

  it('returns a number of requests per minute only for the plan enterprise', () => {
    const { token } = issuer.issue({ ...account, plan: 'pro' });
    expect(verifier.verify(token)).toMatchObject({ plan: 'pro', requestsPerMinute: null });
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
    ['an unknown plan', sign({ plan: 'gold' })],
    ['a number of requests per minute that is not positive', sign({ rpm: 0 })],
    ['a number of requests per minute that is a string', sign({ rpm: '9' })],
    ['a session that is not a string', sign({ sid: {} })],
    ['a client that is not a string', sign({ client_id: 1 })],
    ['scopes that are not a string', sign({ scope: ['users:read'] })],
    ['a lifetime of more than 15 minutes', sign({ exp: NOW / 1000 + 9000 })],
    ['an issue in the future', sign({ iat: NOW / 1000 + 60, exp: NOW / 1000 + 120 })],
    ['another type', sign({}, { typ: 'JWT' })],
    ['the key id of a file', sign({}, { kid: '../../../../dev/null' })],
    ['a key id with SQL', sign({}, { kid: "' UNION SELECT 'a" })],
    ['the key id __proto__', sign({}, { kid: '__proto__' })],
    ['a key id that is not a string', sign({}, { kid: 7 })],
    ['an embedded key', sign({}, { jwk: createPublicKey(keys.publicKeyPem).export({ format: 'jwk' }) })],
    ['the URL of a key set', sign({}, { jku: 'http://127.0.0.1:9/jwks.json' })],
    ['the URL of a certificate', sign({}, { x5u: 'http://127.0.0.1:9/cert.pem' })],
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

  const good = issuer.issue(account).token;
  const [head = '', body = '', signature = ''] = good.split('.');
  const duplicated = Buffer.from('{"alg":"none","alg":"ES256","typ":"at+jwt"}').toString('base64url');
  it.each([
    ['a truncated signature', good.slice(0, -2)],
    ['a padded signature', `${good}==`],
    ['a signature with another last character of the same bytes', `${good.slice(0, -1)}${next(good.at(-1) ?? '')}`],
    [
      'a longer signature',
      `${head}.${body}.${Buffer.concat([Buffer.from(signature, 'base64url'), Buffer.alloc(1)]).toString('base64url')}`,
    ],
    ['a signature of zeros', `${head}.${body}.${Buffer.alloc(64).toString('base64url')}`],
    ['a name twice in its header', `${duplicated}.${body}.${signature}`],
    ['four parts', `${good}.x`],
    ['a line break', `${good}\n`],
    ['a megabyte of claims', `${head}.${'A'.repeat(1_000_000)}.${signature}`],
  ])('rejects a token with %s', (_, token) => {
    expect(() => verifier.verify(token)).toThrow(REJECTED);
  });

  /** The last character has four bits that no byte uses. */
  function next(character: string): string {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    return alphabet.charAt(alphabet.indexOf(character) + 1);
  }

  it('accepts a token of an earlier version, without session, scopes, plan and generation', () => {
    expect(verifier.verify(sign({ gen: undefined }))).toMatchObject({
      generation: 0,
      sessionId: null,
      scopes: ALL_SCOPES,
      plan: 'free',
      requestsPerMinute: null,
    });
  });

  it('keeps scopes that only another graph knows', () => {
    expect(verifier.verify(sign({ scope: 'orders:read  berths:read __proto__' })).scopes).toEqual(
      new Set(['orders:read', 'berths:read', '__proto__']),
    );
  });
});

describe('TokenVerifier with revocations', () => {
  const revocations = createRevocations({ now: () => NOW });
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

  it('rejects the tokens of a revoked session that it verified before, and accepts those of other sessions', () => {
    const [ended, other] = [issuer.issue({ ...account, sessionId: 'ses_9' }).token, issuer.issue(account).token];
    expect(watchful.verify(ended)).toMatchObject({ sessionId: 'ses_9' });
    revocations.add({ userId: 'usr_1', sessionId: 'ses_9' });
    expect(() => watchful.verify(ended)).toThrow(REJECTED);
    expect(watchful.verify(other)).toMatchObject({ sessionId: 'ses_1' });
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
    const known = createRevocations({ now: () => now });
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
    const late = clocked.watch(createTestCaller({ userId: 'usr_1', generation: 1, expiresAt: now / 1000 + 60 }), () => calls.push('e'));
    expect(calls).not.toContain('e');
    jest.advanceTimersByTime(1);
    expect(calls.at(-1)).toBe('e');
    late();
    expect(jest.getTimerCount()).toBe(0);
    jest.useRealTimers();
  });

  it('does not call a watcher that another watcher of the same token has stopped', () => {
    const known = createRevocations({ now: () => NOW });
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

describe('hasRole', () => {
  it('returns whether the role of the caller is at least the given one', () => {
    const caller = createTestCaller({ role: 'MODERATOR' });
    expect([hasRole(null, 'USER'), hasRole(caller, 'USER'), hasRole(caller, 'MODERATOR'), hasRole(caller, 'ADMIN')]).toEqual([
      false,
      true,
      true,
      false,
    ]);
  });
});
