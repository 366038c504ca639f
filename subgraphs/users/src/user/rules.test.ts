import { describe, expect, it } from '@jest/globals';
import type { Role } from '@trestle/identity';
import { NO_AVATAR } from '../avatar/rules.ts';
import { createTestCaller } from '@trestle/identity/tokens/test-identity';
import { MASKED_EMAIL } from './email-address.ts';
import {
  type User,
  type UserChange,
  allowChange,
  allowDelete,
  allowListing,
  allowNewAt,
  checkNewUser,
  parseNewAt,
  parseReplacement,
  parseUserChange,
} from './rules.ts';

const user: User = {
  id: 'usr_a',
  email: 'a@example.org',
  name: 'Ada',
  bio: null,
  age: null,
  role: 'USER',
  isActive: true,
  createdAt: new Date(0),
  updatedAt: new Date(0),
  version: 1,
  plan: 'free',
  requestsPerMinute: null,
  tokenGeneration: 0,
  ...NO_AVATAR,
};
const caller = (userId: string, role: Role = 'USER') => createTestCaller({ userId, role });
const faultsOf = (task: () => unknown): string[] => {
  try {
    task();
    return [];
  } catch (error) {
    return (error as { details: { field: string }[] }).details.map(({ field }) => field);
  }
};

describe('a new account', () => {
  const good = { email: 'a@example.org', name: 'Ada', password: 'long enough now' };

  it('needs an e-mail address, a name and a password, and every fault is listed', () => {
    expect(
      faultsOf(() => {
        checkNewUser(good);
      }),
    ).toEqual([]);
    expect(
      faultsOf(() => {
        checkNewUser({ email: 'a b@c', name: '', password: 'x', bio: 'x'.repeat(2001), age: 151 });
      }),
    ).toEqual(['email', 'name', 'password', 'bio', 'age']);
  });

  it.each(['plain', '@x.y', 'a@b', 'a@@b.c', 'a b@c.de', 'a@b..c', 'a\0@b.cd', `${'x'.repeat(250)}@b.cd`])(
    'refuses %p as an e-mail address',
    (email) => {
      expect(
        faultsOf(() => {
          checkNewUser({ ...good, email });
        }),
      ).toEqual(['email']);
    },
  );

  it.each([MASKED_EMAIL, 'a@MASKED.invalid'])('refuses %p, which hides an e-mail address, as does a change', (email) => {
    const tasks = [
      () => {
        checkNewUser({ ...good, email });
      },
      () => parseUserChange({ email }),
      () => parseReplacement({ email, name: 'Ada' }),
      () => parseNewAt({ ...good, email }),
    ];
    expect(tasks.map(faultsOf)).toEqual(tasks.map(() => ['email']));
  });
});

describe('a change of an account', () => {
  it('accepts null for bio and age only', () => {
    expect(parseUserChange({ bio: null, age: null })).toEqual({ bio: null, age: null });
    expect(faultsOf(() => parseUserChange({ email: null, name: null, role: null, isActive: null, age: 151 }))).toEqual([
      'email',
      'name',
      'age',
      'role',
      'isActive',
    ]);
  });

  it('is allowed for the account itself and for administrators, and of roles for administrators only', () => {
    expect(allowChange(caller('usr_a'), user, { name: 'A' })).toEqual({ name: 'A' });
    expect(() => allowChange(caller('usr_b'), user, { name: 'A' })).toThrow('Changing another account');
    expect(() => allowChange(caller('usr_a'), user, { role: 'ADMIN' })).toThrow('ADMIN');
    expect(allowChange(caller('usr_b', 'ADMIN'), user, { role: 'ADMIN' })).toEqual({ role: 'ADMIN' });
  });

  describe('by an administrator whose credential lacks the scope account:manage', () => {
    const limited = createTestCaller({ userId: 'usr_b', role: 'ADMIN', scopes: new Set(['users:write']) });
    const NEW_ID = 'usr_01hr47qr60p91dc7y56q4qr0h3';
    const refusal = { code: 'FORBIDDEN', requiredScopes: ['account:manage'] };
    const enterprise: User = { ...user, plan: 'enterprise', requestsPerMinute: 5000 };

    it.each<UserChange>([
      { email: 'b@example.org' },
      { role: 'ADMIN' },
      { isActive: false },
      { plan: 'pro' },
      { requestsPerMinute: 1 },
      { requestsPerMinute: null },
    ])('is FORBIDDEN with requiredScopes: %j', (change) => {
      expect(() => allowChange(limited, enterprise, change)).toThrow(expect.objectContaining(refusal));
      expect(allowChange(caller('usr_b', 'ADMIN'), enterprise, change)).toMatchObject(change);
    });

    it('is FORBIDDEN with requiredScopes for the own role', () => {
      expect(() => allowChange(limited, { ...user, id: 'usr_b' }, { role: 'ADMIN' })).toThrow(expect.objectContaining(refusal));
    });

    it('is allowed for the profile, with everything else unchanged, as a PUT sends it', () => {
      const { email, role, isActive, plan, requestsPerMinute } = enterprise;
      const unchanged = { email, role, isActive, plan, requestsPerMinute, name: 'A', bio: null, age: 3 };
      expect(allowChange(limited, enterprise, unchanged)).toEqual(unchanged);
    });

    it('is FORBIDDEN with requiredScopes for an account that does not exist, and NOT_FOUND for other callers', () => {
      expect(() => {
        allowNewAt(limited, NEW_ID);
      }).toThrow(expect.objectContaining(refusal));
      expect(() => {
        allowNewAt({ ...limited, role: 'USER' }, NEW_ID);
      }).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }));
      expect(() => {
        allowNewAt(caller('usr_b', 'ADMIN'), NEW_ID);
      }).not.toThrow();
    });
  });

  it('may contain the account’s own role and plan unchanged, as a PUT does', () => {
    const unchanged = { role: 'USER', isActive: true, plan: 'free', requestsPerMinute: null } as const;
    expect(allowChange(caller('usr_a'), user, { name: 'A', ...unchanged })).toEqual({ name: 'A' });
  });

  it('of the plan or the requests per minute is for administrators only', () => {
    const enterprise: User = { ...user, plan: 'enterprise', requestsPerMinute: 5000 };
    expect(() => allowChange(caller('usr_a'), user, { plan: 'pro' })).toThrow('`plan` requires the role ADMIN');
    expect(() => allowChange(caller('usr_a'), enterprise, { requestsPerMinute: null })).toThrow(
      '`requestsPerMinute` requires the role ADMIN',
    );
    expect(allowChange(caller('x', 'ADMIN'), user, { plan: 'enterprise', requestsPerMinute: 1 })).toEqual({
      plan: 'enterprise',
      requestsPerMinute: 1,
    });
    expect(faultsOf(() => parseUserChange({ plan: null, requestsPerMinute: 0 }))).toEqual(['plan', 'requestsPerMinute']);
    expect(faultsOf(() => parseUserChange({ requestsPerMinute: 1_000_001 }))).toEqual(['requestsPerMinute']);
    expect(parseUserChange({ plan: 'PRO', requestsPerMinute: null })).toEqual({ plan: 'pro', requestsPerMinute: null });
  });

  it('gives requests per minute to the plan enterprise only, and removes them with the plan', () => {
    const enterprise: User = { ...user, plan: 'enterprise', requestsPerMinute: 5000 };
    const admin = caller('x', 'ADMIN');
    expect(faultsOf(() => allowChange(admin, user, { requestsPerMinute: 5 }))).toEqual(['requestsPerMinute']);
    expect(faultsOf(() => allowChange(admin, enterprise, { plan: 'pro', requestsPerMinute: 5 }))).toEqual(['requestsPerMinute']);
    expect(allowChange(admin, enterprise, { plan: 'pro' })).toEqual({ plan: 'pro', requestsPerMinute: null });
    expect(allowChange(admin, enterprise, { name: 'A' })).toEqual({ name: 'A' });
    expect(allowChange(admin, user, { plan: 'pro' })).toEqual({ plan: 'pro' });
  });
});

it('allows an account and administrators to delete it', () => {
  expect(() => {
    allowDelete(caller('usr_b', 'MODERATOR'), 'usr_a');
  }).toThrow('ADMIN');
  expect(() => {
    allowDelete(caller('usr_a'), 'usr_a');
    allowDelete(caller('x', 'ADMIN'), 'usr_a');
  }).not.toThrow();
});

it('allows administrators only to filter or sort by e-mail address', () => {
  expect(() => {
    allowListing(caller('usr_a'), { filter: { email: 'x' } });
  }).toThrow('ADMIN');
  expect(() => {
    allowListing(null, { filter: {}, orderBy: [{ field: 'EMAIL' }] });
  }).toThrow('requires authentication');
  expect(() => {
    allowListing(createTestCaller({ role: 'ADMIN', scopes: new Set(['orders:read']) }), { filter: { email: 'x' } });
  }).toThrow('users:read');
  expect(() => {
    allowListing(null, { filter: {}, orderBy: [{ field: 'NAME' }] });
  }).not.toThrow();
});
