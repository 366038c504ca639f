import { describe, expect, it } from '@jest/globals';
import { ALL_SCOPES, SCOPES, formatScopes, parseScopes } from './scopes.ts';

describe('parseScopes', () => {
  it('returns the known scopes of a string, whatever else it contains', () => {
    expect(parseScopes('openid orders:read  orders:read orders:Read __proto__ constructor')).toEqual(new Set(['orders:read']));
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
    expect(formatScopes(new Set())).toBe('');
  });
});
