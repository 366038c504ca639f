import { describe, expect, it } from '@jest/globals';
import { fail } from '@trestle/schema/errors';
import { readRefusalExtensions, toChallenge, toRefusalExtensions } from './challenge.ts';

describe('toChallenge', () => {
  it.each([
    ['names the realm alone when no credential came', fail('UNAUTHORIZED', ''), 'Bearer realm="api"'],
    [
      'adds invalid_token for an invalid credential',
      fail('UNAUTHORIZED', '', { isInvalidCredential: true }),
      'Bearer realm="api", error="invalid_token"',
    ],
    [
      'adds insufficient_scope and the scopes for a missing scope',
      fail('FORBIDDEN', '', { requiredScopes: ['orders:read', 'orders:write'] }),
      'Bearer realm="api", error="insufficient_scope", scope="orders:read orders:write"',
    ],
    ['is absent for a missing role', fail('FORBIDDEN', ''), undefined],
    ['is absent for another error', fail('NOT_FOUND', ''), undefined],
  ])('%s', (_, fault, challenge) => {
    expect(toChallenge(fault)).toBe(challenge);
  });
});

describe('readRefusalExtensions', () => {
  it.each([
    fail('UNAUTHORIZED', '', { isInvalidCredential: true }),
    fail('FORBIDDEN', '', { requiredScopes: ['orders:read'] }),
    fail('UNAUTHORIZED', ''),
    fail('FORBIDDEN', ''),
  ])('returns what toRefusalExtensions has written: %#', (fault) => {
    const extensions = JSON.parse(JSON.stringify(toRefusalExtensions(fault))) as Record<string, unknown>;
    expect(toChallenge({ code: fault.code, ...readRefusalExtensions(extensions) })).toBe(toChallenge(fault));
  });

  it('ignores values that could break out of the header', () => {
    const requiredScopes = ['a"', 'a b', 'a\r\nx: y', 1, null, 'a\\', 'orders:read'];
    expect(readRefusalExtensions({ reason: 'insufficient_scope', requiredScopes })).toEqual({ requiredScopes: ['orders:read'] });
    expect(readRefusalExtensions({ reason: 'insufficient_scope', requiredScopes: 'a' })).toEqual({});
    expect(readRefusalExtensions(undefined)).toEqual({});
  });
});
