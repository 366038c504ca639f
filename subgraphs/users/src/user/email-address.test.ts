/** The form of e-mail addresses; and against a real PostgreSQL, that an address is one, however its letters are written. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ALL_SCOPES } from '@trestle/identity/scopes';
import type { UsersContext } from '../context.ts';
import { createUsersLoaders } from '../loaders.ts';
import { type TestStores, openTestStores } from '../test-stores.ts';
import { checkEmail } from './email-address.ts';
import { createUser, updateUser } from './mutations.ts';

/** The same address in the normalization forms C and D. */
const [COMPOSED, DECOMPOSED] = ['r\u00e9mi', 're\u0301mi'];
let system: TestStores;
let count = 0;
beforeAll(async () => {
  system = await openTestStores(process.env['TEST_PG_URL'] ?? '');
});
afterAll(() => system.close());

function createContext(userId: string): UsersContext {
  const caller = { userId, role: 'USER', sessionId: null, scopes: ALL_SCOPES } as unknown as NonNullable<UsersContext['caller']>;
  const { stores, transact } = system;
  const context: Partial<UsersContext> = {
    ...{ caller, stores, transact, loaders: createUsersLoaders(stores, { caller }) },
    write: (_, work) => transact(work),
    passwords: { hash: () => Promise.resolve('hash') } as unknown as UsersContext['passwords'],
    confirmPassword: () => Promise.reject(new Error('The password was asked for')),
  };
  return context as UsersContext;
}
const INFO = {} as Parameters<typeof createUser>[2];
const create = (email: string) => createUser({ input: { email, name: 'R\u00e9mi', password: 'a-good-Passw0rd' } }, createContext(''), INFO);
const newDomain = () => `@${String(++count)}.example.org`;
const find = async (email: string) => (await system.stores.users.findForLogin(email)).account?.id;

describe('checkEmail', () => {
  it.each(['ada@example.org', `${COMPOSED}@example.org`, '\u{1f600}@example.org', "o'hara+x@mail.example.org"])('accepts %j', (email) => {
    expect(checkEmail(email)).toEqual([]);
  });

  it.each(['a\u0001da@example.org', 'a\u200bda@example.org', 'a\u202eda@example.org', 'ada@exam\u00adple.org'])(
    'refuses invisible characters: %j',
    (email) => {
      expect(checkEmail(email)).toEqual([{ field: 'email', message: 'must not contain control or other invisible characters' }]);
    },
  );
});

describe('an e-mail address whose letters can be written in two ways', () => {
  it.each([
    [COMPOSED, DECOMPOSED],
    [DECOMPOSED, COMPOSED],
  ])('is that of one account, which logs in with either: %j, %j', async (first, second) => {
    const domain = newDomain();
    const { id, email } = await create(first + domain);
    expect(email).toBe(COMPOSED + domain);
    await expect(create(second + domain)).rejects.toMatchObject({ code: 'CONFLICT' });
    expect([await find(first + domain), await find(second + domain)]).toEqual([id, id]);
    const { loginName } = await system.stores.users.findForLogin(DECOMPOSED.toUpperCase() + domain);
    expect(loginName).toBe(COMPOSED + domain);
  });

  it('is unchanged by an update that sends it in the other way, which needs no password', async () => {
    const domain = newDomain();
    const { id } = await create(COMPOSED + domain);
    const changed = await updateUser({ id, input: { email: DECOMPOSED + domain, bio: 'New' } }, createContext(id));
    expect(changed).toMatchObject({ email: COMPOSED + domain, bio: 'New' });
  });

  it('is found as it was typed when it was stored so by an earlier version', async () => {
    const domain = newDomain();
    const { id } = await system.createUser();
    await system.run('UPDATE "users" SET "email" = $2 WHERE "id" = $1', [id, DECOMPOSED + domain]);
    expect([await find(DECOMPOSED + domain), await find(COMPOSED + domain)]).toEqual([id, undefined]);
    const other = await create(COMPOSED + domain);
    expect([await find(DECOMPOSED + domain), await find(COMPOSED + domain)]).toEqual([id, other.id]);
  });
});
