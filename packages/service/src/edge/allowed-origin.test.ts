import { describe, expect, it } from '@jest/globals';
import { createAllowedOrigin } from './allowed-origin.ts';

const isAllowed = createAllowedOrigin({
  publicUrls: ['https://api.example.com/base', undefined],
  origins: ['https://app.example.com', 'http://localhost:5173'],
});
const plain = (headers: Record<string, string>) => isAllowed({ headers, socket: {} });
const encrypted = (headers: Record<string, string>) => isAllowed({ headers, socket: { encrypted: true } });

describe('an allowed origin', () => {
  it.each(['https://api.example.com', 'https://app.example.com', 'http://localhost:5173'])(
    'may be a public or listed one: %s',
    (origin) => {
      expect(plain({ origin, host: 'other' })).toBe(true);
    },
  );

  it('may be that of the request, with the same scheme, host and port', () => {
    expect(plain({ origin: 'http://localhost:3000', host: 'LOCALHOST:3000' })).toBe(true);
    expect(encrypted({ origin: 'https://here.example', host: 'here.example' })).toBe(true);
  });

  it.each([
    [{ host: 'localhost:3000' }],
    [{ origin: 'null', host: 'null' }],
    [{ origin: '', host: '' }],
    [{ origin: 'https://localhost:3000', host: 'localhost:3000' }],
    [{ origin: 'http://localhost:3001', host: 'localhost:3000' }],
    [{ origin: 'http://localhost:3000, http://evil.example', host: 'localhost:3000' }],
    [{ origin: 'https://app.example.com.evil.example', host: 'a' }],
    [{ origin: 'https://APP.example.com', host: 'a' }],
    [{ origin: 'http://undefined' }],
  ])('is no other: %j', (headers) => {
    expect(plain(headers)).toBe(false);
  });
});
