import { describe, expect, it } from '@jest/globals';
import type { Caller } from '@trestle/identity';
import type { Scope } from '@trestle/identity/scopes';
import { NO_POLICIES, readPolicies } from './policies.ts';

const callerWith = (role: Caller['role'], scopes: readonly Scope[] = []) => ({ role, scopes: new Set(scopes) }) as unknown as Caller;

describe('readPolicies', () => {
  const policies = readPolicies(
    '{"open": [{}], "closed": [], "staff": [{"role": "MODERATOR"}], "pay": [{"role": "USER", "scopes": ["payments:write", "orders:read"]}, {"role": "ADMIN"}]}',
  );

  it('returns the policies of which one rule holds for the caller', () => {
    expect([...policies.findFor(callerWith('USER'))]).toEqual(['open']);
    expect([...policies.findFor(callerWith('ADMIN'))]).toEqual(['open', 'staff', 'pay']);
    expect([...policies.findFor(callerWith('USER', ['payments:write']))]).toEqual(['open']);
    expect([...policies.findFor(callerWith('USER', ['payments:write', 'orders:read']))]).toEqual(['open', 'pay']);
    expect(NO_POLICIES.findFor(callerWith('ADMIN')).size).toBe(0);
  });

  it.each([
    '[]',
    'null',
    '{"a": {}}',
    '{"a": [null]}',
    '{"a": [{"role": "admin"}]}',
    '{"a": [{"role": null}]}',
    '{"a": [{"scopes": "x"}]}',
    '{"a": [{"scopes": [""]}]}',
    '{"a": [{"scopes": [1]}]}',
    '{"a": [{"roles": ["ADMIN"]}]}',
    `{"a": [${'{},'.repeat(100)}{}]}`,
    `{"a": [{"scopes": [${'"x",'.repeat(100)}"x"]}]}`,
    '{',
  ])('throws for %.60s', (text) => {
    expect(() => readPolicies(text)).toThrow();
  });
});
