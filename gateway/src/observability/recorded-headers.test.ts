import { describe, expect, it } from '@jest/globals';
import { createHeaderRecorder, parseRecordedNames } from './recorded-headers.ts';

describe('parseRecordedNames', () => {
  it('returns names in lower case, each once', () => {
    expect(parseRecordedNames(' X-Tenant, x-team\tX-TEAM,')).toEqual(['x-tenant', 'x-team']);
  });

  it.each(['a b:', 'x-ä', 'Authorization', 'x-api-key', 'COOKIE', 'Proxy-Authorization', 'Sec-WebSocket-Protocol'])(
    'refuses %j',
    (text) => {
      expect(() => parseRecordedNames(text)).toThrow('must be names of headers without credentials');
    },
  );

  it('refuses more than 16 names', () => {
    expect(() => parseRecordedNames(Array.from({ length: 17 }, (_, i) => `x-${String(i)}`).join())).toThrow('must have at most 16 names');
  });
});

describe('createHeaderRecorder', () => {
  const record = createHeaderRecorder(['x-tenant', 'x-team', '__proto__', 'constructor']);

  it('returns the chosen headers that a request has, and undefined without any of them', () => {
    expect(record({ 'x-tenant': 'acme', 'x-other': 'b' })).toEqual({ 'x-tenant': 'acme' });
    expect(record({ 'x-other': 'b' })).toBeUndefined();
  });

  it('cuts values to 255 bytes, and replaces tokens and e-mail addresses in them', () => {
    expect(Buffer.byteLength(record({ 'x-tenant': 'é'.repeat(4000) })?.['x-tenant'] ?? '')).toBeLessThanOrEqual(255);
    expect(record({ 'x-tenant': 'ada@example.com', 'x-team': 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln' })).toEqual({
      'x-tenant': '[email]',
      'x-team': '[token]',
    });
  });
});
