import { describe, expect, it } from '@jest/globals';
import { type TokenRequest, type TokenSource, createTokenFinder, findSourceHeaders } from './token-sources.ts';

const sourcesOf = (text: string): TokenSource[] => {
  const sources = text.split(',').map((item): TokenSource => {
    const [kind, name = '', prefix] = item.split(':');
    if (kind === 'cookie') return { kind, name };
    return kind === 'header' ? { kind, name, prefix } : { kind: 'authorization' };
  });
  return sources.some(({ kind }) => kind === 'authorization') ? sources : [{ kind: 'authorization' }, ...sources];
};

describe('findSourceHeaders', () => {
  it('returns the headers besides Authorization', () => {
    expect([findSourceHeaders(sourcesOf('header:x-token,cookie:a')), findSourceHeaders()]).toEqual([['x-token', 'cookie'], []]);
  });
});

const ALLOWED = 'https://app.example.com';
/** `authorization`, `header:<name>:<prefix>` and `cookie:<name>`, as the setting has them. */
const finderOf = (text: string) => createTokenFinder(sourcesOf(text), ({ headers }) => headers.origin === ALLOWED);
const find = (text: string, headers: Record<string, string>, { method = 'POST', hasApiKey = false } = {}) => {
  const request: TokenRequest = { method, headers, socket: {} };
  return finderOf(text)?.find(request, { valueOf: (name) => headers[name], hasApiKey });
};
const JSON_BODY = { 'content-type': 'application/json' };

describe('the finder of tokens', () => {
  it('is none where Authorization is the only place', () => {
    expect([finderOf(''), finderOf('authorization')]).toEqual([undefined, undefined]);
  });

  it('returns the token of the first place that a request has, whatever the others have', () => {
    const all = { ...JSON_BODY, authorization: 'Bearer a', 'x-token': 'h', cookie: 'x=1; s=c' };
    expect(find('header:x-token,cookie:s', all)).toBeUndefined();
    expect(find('header:x-token,authorization', all)).toBe('h');
    expect(find('cookie:s,header:x-token', { ...all, authorization: undefined as never })).toBe('c');
    expect(find('cookie:t,cookie:s,authorization', all)).toBe('c');
    expect(find('header:x-token', JSON_BODY)).toBeUndefined();
  });

  it('reads what is behind a prefix', () => {
    expect(find('header:x-token:Bearer', { 'x-token': 'bearer  abc' })).toBe('abc');
    for (const value of ['abc', 'Bearer:abc', 'Bearer', ''])
      expect(() => find('header:x-token:Bearer', { 'x-token': value })).toThrow('unknown form');
  });

  it('reads a cookie by its whole name, and an empty one as none', () => {
    expect(find('cookie:s', { ...JSON_BODY, cookie: 'as=1;  s = tok.en ; s2=3' })).toBe('tok.en');
    expect(find('cookie:s', { ...JSON_BODY, cookie: 's=; ss=1' })).toBeUndefined();
    expect(find('cookie:s', { ...JSON_BODY, cookie: 's=a; s=a' })).toBe('a');
  });

  it.each([
    ['a cookie with two values', { cookie: 's=a; s=b' }, 'several values'],
    ['a cookie with quotes', { cookie: 's="a"' }, 'unknown form'],
    ['a line break', { 'x-token': 'a\r\nb' }, 'unknown form'],
    ['an empty header', { 'x-token': '' }, 'unknown form'],
    ['two headers that were joined', { 'x-token': 'a, b' }, 'unknown form'],
  ])('refuses %s', (_, headers, fault) => {
    expect(() => find('cookie:s,header:x-token', { ...JSON_BODY, ...headers })).toThrow(fault);
  });

  it('refuses a header beside an API key, and ignores a cookie beside one', () => {
    expect(() => find('header:x-token', { 'x-token': 'a' }, { hasApiKey: true })).toThrow('exactly one credential');
    expect(find('cookie:s', { cookie: 's=a' }, { hasApiKey: true })).toBeUndefined();
  });

  it.each([
    ['JSON by POST', 'POST', JSON_BODY],
    ['an allowed origin', 'GET', { origin: ALLOWED }],
    ['a page of the same origin', 'GET', { 'sec-fetch-site': 'same-origin' }],
    ['a header that needs a preflight request', 'GET', { 'apollo-require-preflight': '1' }],
    ['such a header with files', 'POST', { 'content-type': 'multipart/form-data; boundary=a', 'apollo-require-preflight': '' }],
    ['a method that needs a preflight request', 'PUT', {}],
    ['a WebSocket of an allowed origin', 'GET', { upgrade: 'websocket', origin: ALLOWED }],
  ])('accepts a cookie with %s', (_, method, headers) => {
    expect(find('cookie:s', { cookie: 's=a', ...headers }, { method })).toBe('a');
  });

  it.each([
    ['a GET without more', 'GET', {}],
    ['a HEAD', 'HEAD', {}],
    ['a page of the same site', 'GET', { 'sec-fetch-site': 'same-site' }],
    ['an address that was typed', 'GET', { 'sec-fetch-site': 'none' }],
    ['another origin', 'GET', { origin: 'https://evil.example' }],
    ['another origin with JSON', 'POST', { ...JSON_BODY, origin: 'https://evil.example' }],
    ['an opaque origin', 'POST', { ...JSON_BODY, origin: 'null' }],
    ['text', 'POST', { 'content-type': 'text/plain' }],
    ['text that names JSON', 'POST', { 'content-type': 'text/plain; application/json' }],
    ['a form', 'POST', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['files', 'POST', { 'content-type': 'multipart/form-data; boundary=a' }],
    ['a body without a type', 'POST', {}],
    ['a WebSocket without an origin', 'GET', { upgrade: 'websocket', 'apollo-require-preflight': '1' }],
    ['a WebSocket of another origin', 'GET', { upgrade: 'websocket', origin: 'https://evil.example' }],
  ])('refuses a cookie with %s', (_, method, headers) => {
    expect(() => find('cookie:s', { cookie: 's=a', ...headers }, { method })).toThrow('token is in a cookie');
  });
});
