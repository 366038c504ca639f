import { expect, it } from '@jest/globals';
import type { Role } from '@trestle/identity';
import { createTestCaller } from '@trestle/identity/tokens/test-identity';
import { maySee, visibilityOf } from './access.ts';

const caller = (role: Role) => createTestCaller({ role });

it('allows customers to see their own orders, and administrators all of them', () => {
  expect(maySee(visibilityOf(null), 'usr_a')).toBe(false);
  expect(maySee(visibilityOf(caller('USER')), 'usr_a')).toBe(true);
  expect(maySee(visibilityOf(caller('MODERATOR')), 'usr_b')).toBe(false);
  expect(maySee(visibilityOf(caller('ADMIN')), 'usr_b')).toBe(true);
});
