import { describe, expect, it } from '@jest/globals';
import { ALL_SCOPES, SCOPES, formatScopes, parseScopes } from './scopes.ts';

describe('parseScopes', () => {
  it('returns the scopes of a string, also those that only another graph knows, and none with other characters', () => {
    expect(parseScopes('openid orders:read  orders:read berths:read __proto__ a"b c\\d \u00e9')).toEqual(
      new Set(['openid', 'orders:read', 'berths:read', '__proto__']),
    );
    expect(parseScopes('')).toEqual(new Set());
  });

  it('returns one shared set for all scopes', () => {
    expect(parseScopes(formatScopes(ALL_SCOPES))).toBe(ALL_SCOPES);
  });
});

describe('formatScopes', () => {
  it('lists scopes in the order of SCOPES, separated by a space', () => {
    expect(formatScopes(ALL_SCOPES)).toBe(SCOPES.join(' '));
    expect(formatScopes(new Set(['posts:read', 'users:read'] as const))).toBe('users:read posts:read');
    expect(formatScopes(new Set(['berths:read', 'users:read']))).toBe('users:read berths:read');
    expect(formatScopes(new Set())).toBe('');
  });
});
