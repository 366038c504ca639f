/** Against a real PostgreSQL: changes of accounts beside other changes of the same account. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ALL_SCOPES } from '@trestle/identity/scopes';
import type { Role } from '@trestle/identity';
import type { UsersContext } from '../context.ts';
import { createUsersLoaders } from '../loaders.ts';
import { type TestStores, openTestStores } from '../test-stores.ts';
import { replaceUser, updateUser } from './mutations.ts';
import type { User } from './rules.ts';

let system: TestStores;
beforeAll(async () => {
  system = await openTestStores(process.env['TEST_PG_URL'] ?? '');
});
afterAll(() => system.close());

/** Returns what a mutation of this caller works with; the password that it sends is the right one. */
const createContext = (userId: string, role: Role = 'USER'): UsersContext => {
  const caller = { userId, role, sessionId: null, scopes: ALL_SCOPES } as unknown as NonNullable<UsersContext['caller']>;
  const { stores, transact } = system;
  const context: Partial<UsersContext> = {
    ...{ caller, stores, transact, loaders: createUsersLoaders(stores, { caller }) },
    ...{ confirmPassword: () => Promise.resolve('hash'), revoke: () => Promise.resolve() },
  };
  return context as UsersContext;
};
const read = async ({ id }: User) => (await system.stores.users.findByIds([id]))[0];
const change = (set: string) => `UPDATE "users" SET ${set}, "version" = "version" + 1 WHERE "id" = $1`;

describe('replaceUser beside another change of the account', () => {
  const newAddress = change(`"email" = 'new' || "email"`);

  it('does not restore the former e-mail address, which needs the password', async () => {
    const user = await system.createUser();
    const args = { id: user.id, input: { email: user.email, name: 'Ada Lovelace' } };
    const outcome = system.duringTransaction(newAddress, [user.id], () => replaceUser(args, createContext(user.id)));
    await expect(outcome).rejects.toMatchObject({ code: 'VALIDATION_ERROR', details: [{ field: 'currentPassword' }] });
    expect(await read(user)).toMatchObject({ email: `new${user.email}`, name: 'Ada' });
  });

  it.each([[[1]], [[1, 2]], [[2]]])('is PRECONDITION_FAILED with the expected versions %j', async (expectedVersions) => {
    const user = await system.createUser();
    const args = { id: user.id, input: { email: user.email, name: 'Ada Lovelace' }, expectedVersions };
    const outcome = system.duringTransaction(newAddress, [user.id], () => replaceUser(args, createContext(user.id)));
    await expect(outcome).rejects.toMatchObject({ code: 'PRECONDITION_FAILED' });
    expect(await read(user)).toMatchObject({ email: `new${user.email}` });
  });

  it('restores the former role with an event', async () => {
    const user = await system.createUser();
    const args = { id: user.id, input: { email: user.email, name: 'Ada', role: 'USER' as const } };
    const replaced = await system.duringTransaction(change(`"role" = 'ADMIN'`), [user.id], () =>
      replaceUser(args, createContext('usr_admin', 'ADMIN')),
    );
    expect(replaced).toMatchObject({ role: 'USER', version: 3 });
    const events = await system.run(`SELECT "type" FROM "security_events" WHERE "userId" = $1`, [user.id]);
    expect(events).toEqual([{ type: 'ROLE_CHANGED' }]);
  });

  it('does not lose the former name to a change that is not committed yet', async () => {
    const user = await system.createUser();
    const args = { id: user.id, input: { email: user.email, name: 'Ada' } };
    const replaced = await system.duringTransaction(change(`"name" = 'Grace'`), [user.id], () => replaceUser(args, createContext(user.id)));
    expect(replaced).toMatchObject({ name: 'Ada', version: 3 });
  });

  it('keeps the version when it has the values of the account', async () => {
    const user = await system.createUser();
    const args = { id: user.id, input: { email: user.email, name: 'Ada', bio: null, age: null } };
    expect(await replaceUser(args, createContext(user.id))).toMatchObject({ version: 1, updatedAt: user.updatedAt });
  });

  it('makes each of several changes at once, without a precondition', async () => {
    const user = await system.createUser();
    const names = Array.from({ length: 20 }, (_, i) => `Ada ${String(i)}`);
    await Promise.all(names.map((name) => replaceUser({ id: user.id, input: { email: user.email, name } }, createContext(user.id))));
    expect((await read(user))?.version).toBe(1 + names.length);
  });

  it('is CONFLICT when other requests change the account each time', async () => {
    const user = await system.createUser();
    const context = createContext(user.id);
    const { stores } = context;
    const update: typeof stores.users.update = async (...args) => {
      await system.run(change(`"name" = 'Grace'`), [user.id]);
      return stores.users.update(...args);
    };
    const raced = { ...context, stores: { ...stores, users: { ...stores.users, update } } };
    const outcome = replaceUser({ id: user.id, input: { email: user.email, name: 'Ada' } }, raced);
    await expect(outcome).rejects.toMatchObject({ code: 'CONFLICT' });
  });
});

describe('updateUser beside another change of the account', () => {
  it('gives no free account requests per minute of its own', async () => {
    const user = await system.createUser();
    await system.run(change(`"plan" = 'enterprise'`), [user.id]);
    const args = { id: user.id, input: { requestsPerMinute: 500 } };
    const outcome = system.duringTransaction(change(`"plan" = 'free'`), [user.id], () =>
      updateUser(args, createContext('usr_admin', 'ADMIN')),
    );
    await expect(outcome).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
    expect(await read(user)).toMatchObject({ plan: 'free', requestsPerMinute: null });
  });

  it('changes the biography, which is compared with nothing', async () => {
    const user = await system.createUser();
    const args = { id: user.id, input: { bio: 'A biography' } };
    const changed = await system.duringTransaction(change(`"name" = 'Grace'`), [user.id], () => updateUser(args, createContext(user.id)));
    expect(changed).toMatchObject({ bio: 'A biography', name: 'Grace' });
  });
});
