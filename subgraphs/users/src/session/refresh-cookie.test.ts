import { describe, expect, it } from '@jest/globals';
import { createRefreshCookie, createRefreshToken, hashRefreshToken } from './refresh-cookie.ts';

const secure = createRefreshCookie({ isSecure: true });
const plain = createRefreshCookie({ isSecure: false });

describe('the refresh cookie', () => {
  it('is bound to one host and to HTTPS, and invisible to scripts and other sites', () => {
    const attributes = 'Path=/; HttpOnly; SameSite=Strict';
    expect(secure.write('t')).toBe(`__Host-trestle-refresh=t; Max-Age=604800; ${attributes}; Secure`);
    expect(plain.write('t')).toBe(`trestle-refresh=t; Max-Age=604800; ${attributes}`);
    expect(secure.clear()).toBe(`__Host-trestle-refresh=; Max-Age=0; ${attributes}; Secure`);
  });

  it('is read by its exact name', () => {
    expect(secure.read('a=b; __Host-trestle-refresh=t; c')).toBe('t');
    expect(plain.read('trestle-refresh=t=u')).toBe('t=u');
    for (const header of [undefined, '', ';;=;', 'trestle-refresh=t', '__host-trestle-refresh=t', '__Host-trestle-refresh'])
      expect(secure.read(header)).toBeUndefined();
  });

  it('is refused when the request has several', () => {
    expect(() => secure.read('__Host-trestle-refresh=a; x=y; __Host-trestle-refresh=a')).toThrow('several cookies');
  });
});

describe('a refresh token', () => {
  it('has 256 random bits, of which only the hash is kept', () => {
    const token = createRefreshToken();
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(createRefreshToken()).not.toBe(token);
    expect(hashRefreshToken(token)).toHaveLength(32);
  });

  it.each(['', 'x', 'x'.repeat(44), 'x'.repeat(100_000), `${'x'.repeat(42)}\0`])('is not any string: %#', (token) => {
    expect(hashRefreshToken(token)).toBeUndefined();
  });
});
