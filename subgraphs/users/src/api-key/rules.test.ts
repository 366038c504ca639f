import { describe, expect, it } from '@jest/globals';
import { createTestCaller } from '@trestle/identity/tokens/test-identity';
import { SCOPES, type Scope } from '@trestle/identity/scopes';
import {
  type ApiKey,
  allowManaging,
  allowOwnKey,
  keyVisibilityOf,
  parseApiKeyChange,
  parseListing,
  parseNewApiKey,
  parseOverlap,
  toSuccessor,
} from './rules.ts';

const now = new Date('2026-06-01T00:00:00Z');
const caller = createTestCaller({ userId: 'usr_a' });
const narrow = createTestCaller({ userId: 'usr_a', scopes: new Set<Scope>(['orders:read', 'account:manage']) });
const admin = createTestCaller({ userId: 'usr_r', role: 'ADMIN' });
const key: ApiKey = {
  id: 'key_1',
  userId: 'usr_a',
  name: 'Export',
  lastFour: 'abcd',
  scopes: ['orders:read'],
  isAllowedInUrl: false,
  expiresAt: null,
  lastUsedAt: null,
  successorId: null,
  createdAt: new Date('2026-05-01T00:00:00Z'),
  updatedAt: new Date('2026-05-01T00:00:00Z'),
  version: 1,
};
const faulty = (...fields: string[]) =>
  expect.objectContaining({ code: 'VALIDATION_ERROR', details: fields.map((field) => expect.objectContaining({ field })) });

describe('managing API keys', () => {
  it('needs the scope account:manage, which the challenge names', () => {
    expect(allowManaging(narrow)).toBe(narrow);
    const without = createTestCaller({ scopes: new Set<Scope>(['orders:read']) });
    expect(() => allowManaging(without)).toThrow(expect.objectContaining({ code: 'FORBIDDEN', requiredScopes: ['account:manage'] }));
    expect(keyVisibilityOf(without)).toEqual({ all: false, userId: null });
  });

  it('shows callers their own keys, administrators all, and anonymous callers none', () => {
    expect(keyVisibilityOf(caller)).toEqual({ all: false, userId: 'usr_a' });
    expect(keyVisibilityOf(admin)).toEqual({ all: true });
    expect(keyVisibilityOf(null)).toEqual({ all: false, userId: null });
  });

  it('lists the keys of another account for administrators only', () => {
    expect([parseListing(caller, null), parseListing(caller, { userId: 'usr_a' }), parseListing(admin, { userId: 'usr_a' })]).toEqual([
      'usr_a',
      'usr_a',
      'usr_a',
    ]);
    expect(parseListing(admin, {})).toBe('usr_r');
    expect(() => parseListing(caller, { userId: 'usr_b' })).toThrow(expect.objectContaining({ code: 'FORBIDDEN' }));
  });

  it('lets administrators neither change nor rotate keys of others, and hides those from other callers', () => {
    expect(() => {
      allowOwnKey(admin, key);
    }).toThrow(expect.objectContaining({ code: 'FORBIDDEN' }));
    expect(() => {
      allowOwnKey(createTestCaller({ userId: 'usr_b' }), key);
    }).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }));
  });
});

describe('a new API key', () => {
  it('has all scopes of the caller except account:manage by default', () => {
    const created = parseNewApiKey(caller, { name: 'Export' }, now);
    expect(created.scopes).toEqual(SCOPES.filter((scope) => scope !== 'account:manage'));
    expect(parseNewApiKey(narrow, { name: 'Export' }, now).scopes).toEqual(['orders:read']);
    expect(created).toMatchObject({ userId: 'usr_a', expiresAt: null, isAllowedInUrl: false });
  });

  it('has account:manage only when it is named', () => {
    expect(parseNewApiKey(narrow, { name: 'Export', scopes: ['account:manage'] }, now).scopes).toEqual(['account:manage']);
  });

  it('cannot have scopes that the caller does not have', () => {
    expect(() => parseNewApiKey(narrow, { name: 'Export', scopes: ['orders:read', 'orders:write'] }, now)).toThrow(
      expect.objectContaining({ code: 'FORBIDDEN', requiredScopes: ['orders:write'] }),
    );
    const manager = createTestCaller({ scopes: new Set<Scope>(['account:manage']) });
    expect(() => parseNewApiKey(manager, { name: 'Export' }, now)).toThrow(faulty('scopes'));
  });

  it.each([
    [{ name: '' }, ['name']],
    [{ name: 'x'.repeat(101) }, ['name']],
    [{ name: 'Export', scopes: [] }, ['scopes']],
    [{ name: 'Export', scopes: ['orders:read', 'everything', '__proto__'] }, ['scopes', 'scopes']],
    [{ name: 'Export', expiresAt: now }, ['expiresAt']],
    [{ name: ' ', expiresAt: new Date(0) }, ['name', 'expiresAt']],
  ])('is refused with every fault: %j', (input, fields) => {
    expect(() => parseNewApiKey(caller, input, now)).toThrow(faulty(...fields));
  });
});

describe('a change of an API key', () => {
  it('may set the name and whether the key is allowed in a URL, and not to null', () => {
    expect(parseApiKeyChange({ name: 'Import', isAllowedInUrl: true })).toEqual({ name: 'Import', isAllowedInUrl: true });
    expect(parseApiKeyChange({})).toEqual({});
    expect(() => parseApiKeyChange({ name: null, isAllowedInUrl: null })).toThrow(faulty('name', 'isAllowedInUrl'));
  });
});

describe('a rotation', () => {
  it('keeps name and scopes, and gives the new key the lifetime of the old one', () => {
    const expiresAt = new Date('2026-06-11T00:00:00Z');
    expect(toSuccessor(caller, { ...key, expiresAt }, now)).toEqual({
      userId: 'usr_a',
      name: 'Export',
      scopes: ['orders:read'],
      isAllowedInUrl: false,
      expiresAt: new Date('2026-07-12T00:00:00Z'),
    });
    expect(toSuccessor(caller, key, now).expiresAt).toBeNull();
  });

  it('is refused for a key that was replaced or has expired, and for scopes that the caller lacks', () => {
    const code = 'BUSINESS_RULE_VIOLATION';
    expect(() => toSuccessor(caller, { ...key, successorId: 'key_2' }, now)).toThrow(expect.objectContaining({ code }));
    expect(() => toSuccessor(caller, { ...key, expiresAt: now }, now)).toThrow(expect.objectContaining({ code }));
    expect(() => toSuccessor(narrow, { ...key, scopes: ['posts:write'] }, now)).toThrow(
      expect.objectContaining({ code: 'FORBIDDEN', requiredScopes: ['posts:write'] }),
    );
  });

  it('overlaps for 24 hours by default, and for 0 to 168', () => {
    expect([undefined, {}, { overlapHours: null }, { overlapHours: 0 }, { overlapHours: 168 }].map(parseOverlap)).toEqual(
      [24, 24, 24, 0, 168].map((hours) => hours * 3_600_000),
    );
    for (const overlapHours of [-1, 169]) expect(() => parseOverlap({ overlapHours })).toThrow(faulty('overlapHours'));
  });
});
