/** Against a real PostgreSQL: the token that a new password gives. */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ALL_SCOPES } from '@trestle/identity/scopes';
import { ACCESS_TOKEN_SECONDS, createTokenIssuer, generateTokenKeys } from '@trestle/identity/tokens/tokens';
import type { UsersContext } from '../context.ts';
import { createUsersLoaders } from '../loaders.ts';
import { type TestStores, openTestStores } from '../test-stores.ts';
import { changePassword } from './change-password.ts';

const NOW = Date.now();
const tokens = createTokenIssuer(generateTokenKeys());
let system: TestStores;
beforeAll(async () => {
  system = await openTestStores(process.env['TEST_PG_URL'] ?? '');
});
afterAll(() => system.close());

/** Returns how long the token is valid that a request with this session gets, whose own token is valid for `secondsLeft`. */
async function lifetimeOf(sessionId: string, secondsLeft: number): Promise<number> {
  const { id: userId } = await system.createUser();
  const { stores, transact } = system;
  const expiresAt = Math.floor(NOW / 1000) + secondsLeft;
  const caller = { userId, sessionId, expiresAt, tokenId: 'jti', scopes: ALL_SCOPES } as unknown as NonNullable<UsersContext['caller']>;
  const context: Partial<UsersContext> = {
    ...{ caller, stores, transact, tokens, loaders: createUsersLoaders(stores, { caller }), clock: () => new Date(NOW) },
    ...{ confirmPassword: () => Promise.resolve('hash'), revoke: () => Promise.resolve() },
    passwords: { hash: () => Promise.resolve('new hash'), matches: () => Promise.resolve(true) },
    secondFactors: { restrict: (account: object) => Promise.resolve(account) } as unknown as UsersContext['secondFactors'],
  };
  const change = { currentPassword: 'Ada-passes-1', newPassword: 'Ada-passes-2' };
  return (await changePassword(change, context as UsersContext)).expiresIn;
}

it('gives an API key a token that ends with the token of the request, since the key may expire then', async () => {
  const lifetime = await lifetimeOf('key_1', 120);
  expect([119, 120]).toContain(lifetime);
});

it('gives a login a token with the whole lifetime', async () => {
  expect(await lifetimeOf('ses_1', 120)).toBe(ACCESS_TOKEN_SECONDS);
});
