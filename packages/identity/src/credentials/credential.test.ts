import { describe, expect, it } from '@jest/globals';
import { readBearerToken, readCredential, takeUrlKeys } from './credential.ts';

describe('readBearerToken', () => {
  it('returns the bearer token, or undefined when the request has no credential', () => {
    expect(readBearerToken(['Authorization', 'Bearer a.b.c'])).toBe('a.b.c');
    expect(readBearerToken(['Accept', 'Bearer a.b.c'])).toBeUndefined();
  });

  it('rejects two credentials, and a credential of another scheme', () => {
    expect(() => readBearerToken(['authorization', 'Bearer a', 'Authorization', 'Bearer b'])).toThrow('exactly one');
    expect(() => readBearerToken(['authorization', 'Bearer a', 'X-API-Key', 'k'])).toThrow('exactly one');
    expect(() => readBearerToken(['authorization', 'Basic YTpi'])).toThrow('unknown scheme');
    for (const header of [
      ['authorization', 'ApiKey k'],
      ['X-API-Key', 'k'],
    ]) {
      expect(() => readBearerToken(header)).toThrow('not a bearer token');
    }
  });
});

describe('readCredential', () => {
  const read = (rawHeaders: readonly string[], urlKeys: readonly string[] = [], method = 'GET') =>
    readCredential({ rawHeaders, urlKeys, method });

  it.each([
    [['Authorization', 'Bearer a.b.c'], [], { kind: 'bearer', value: 'a.b.c', isInUrl: false }],
    [['authorization', 'bEARER  a.b.c '], [], { kind: 'bearer', value: 'a.b.c', isInUrl: false }],
    [['Authorization', 'ApiKey k_1'], [], { kind: 'apiKey', value: 'k_1', isInUrl: false }],
    [['AUTHORIZATION', 'apikey k_1'], [], { kind: 'apiKey', value: 'k_1', isInUrl: false }],
    [['x-api-key', 'k_1'], [], { kind: 'apiKey', value: 'k_1', isInUrl: false }],
    [['Accept', '*/*'], ['k_1'], { kind: 'apiKey', value: 'k_1', isInUrl: true }],
    [['Accept', '*/*'], [], undefined],
  ])('reads %j with the URL keys %j', (rawHeaders, urlKeys, credential) => {
    expect(read(rawHeaders, urlKeys)).toEqual(credential);
  });

  const [BEARER, KEY, HEADER] = [
    ['Authorization', 'Bearer a'],
    ['Authorization', 'ApiKey k'],
    ['X-API-Key', 'k'],
  ] as const;
  it.each([
    [[...BEARER, ...BEARER], []],
    [[...BEARER, ...KEY], []],
    [[...BEARER, ...HEADER], []],
    [[...KEY, ...HEADER], []],
    [[...HEADER, ...HEADER], []],
    [BEARER, ['k']],
    [KEY, ['k']],
    [HEADER, ['k']],
    [[], ['k', 'k']],
    [['Authorization', '', ...HEADER], []],
    [HEADER, ['']],
  ])('throws VALIDATION_ERROR for two credentials: %j, %j', (rawHeaders, urlKeys) => {
    expect(() => read(rawHeaders, urlKeys)).toThrow(
      expect.objectContaining({ code: 'VALIDATION_ERROR', message: expect.stringContaining('exactly one') }),
    );
  });

  it.each([
    [['Authorization', '']],
    [['Authorization', 'Bearer']],
    [['Authorization', 'Bearer a b']],
    [['Authorization', 'Basic YTpi']],
    [['Authorization', 'ApiKey \u00e9t\u00e9']],
    [['X-API-Key', '']],
    [['X-API-Key', 'a b']],
    [['X-API-Key', 'k, k']],
    [['X-API-Key', '\u{1f511}']],
  ])('throws UNAUTHORIZED with the reason invalid_token for %j', (rawHeaders) => {
    expect(() => read(rawHeaders)).toThrow(expect.objectContaining({ code: 'UNAUTHORIZED', isInvalidCredential: true }));
  });

  it.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])('throws VALIDATION_ERROR for a key in the URL of %s', (method) => {
    expect(() => read([], ['k'], method)).toThrow(expect.objectContaining({ code: 'VALIDATION_ERROR' }));
  });

  it('accepts a key in the URL of HEAD, which is GET without its content', () => {
    expect(read([], ['k'], 'HEAD')).toMatchObject({ isInUrl: true });
  });
});

describe('takeUrlKeys', () => {
  it.each([
    ['/users', '/users', []],
    ['/users?limit=2', '/users?limit=2', []],
    ['/apiKey', '/apiKey', []],
    ['/users&apiKey=k', '/users&apiKey=k', []],
    ['/users?apiKey=k', '/users', ['k']],
    ['/users?limit=2&apiKey=k', '/users?limit=2', ['k']],
    ['/users?apiKey=k&limit=2', '/users?limit=2', ['k']],
    ['/users?apiKey=a&limit=2&apiKey=b', '/users?limit=2', ['a', 'b']],
    ['/users?%61pi%4Bey=k', '/users', ['k']],
    ['/users?apiKey=%6b', '/users', ['k']],
    ['/users?apiKey', '/users', ['']],
    ['/users??apiKey=k', '/users', ['k']],
    ['/users?name=50%25&q=%', '/users?name=50%25&q=%', []],
    ['/users?apikey=k', '/users?apikey=k', []],
  ])('takes the keys out of %s', (url, rest, keys) => {
    const request = { url };
    expect(takeUrlKeys(request)).toEqual(keys);
    expect(request.url).toBe(rest);
  });
});
