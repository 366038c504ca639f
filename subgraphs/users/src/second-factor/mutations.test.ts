/** Against a real PostgreSQL: changes of second factors beside each other. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ALL_SCOPES } from '@trestle/identity/scopes';
import type { UsersContext } from '../context.ts';
import type { UsersStores } from '../stores.ts';
import { type TestStores, openTestStores } from '../test-stores.ts';
import type { User } from '../user/rules.ts';
import { createRecoveryCodes as giveCodes, giveRecoveryCodes, removeTotp } from './mutations.ts';
import { removePasskey } from './passkey-mutations.ts';
import { createRecoveryCodes } from './recovery-codes.ts';

const ARGS = { currentPassword: 'right' };
const recoveryCodes = createRecoveryCodes('s'.repeat(32));
let system: TestStores;
beforeAll(async () => {
  system = await openTestStores(process.env['TEST_PG_URL'] ?? '');
});
afterAll(() => system.close());

const addTotp = ({ id }: User) => system.run(`INSERT INTO "totp_secrets" ("userId", "secret", "confirmedAt") VALUES ($1, '', now())`, [id]);
const newPasskey = () => ({ credentialId: randomUUID(), publicKey: new Uint8Array([1]), counter: 0, transports: [] });
const statusOf = ({ id }: User) => system.stores.secondFactors.status(id);

/** Returns what a mutation of the account works with. Its password is `right`; it writes in a transaction of `stores` if they are given. */
function createContext({ id: userId }: User, stores?: UsersStores): UsersContext {
  const caller = { userId, scopes: ALL_SCOPES } as unknown as NonNullable<UsersContext['caller']>;
  const transact: UsersContext['transact'] = stores ? (work) => work(stores) : system.transact;
  const context: Partial<UsersContext> = { caller, recoveryCodes, transact, confirmPassword: () => Promise.resolve('hash') };
  return context as UsersContext;
}

describe('recovery codes', () => {
  it('are those of the last of two requests that replace them at once', async () => {
    const user = await system.createUser();
    await addTotp(user);
    const [first, second] = await system.besideTransaction(
      (stores) => giveCodes(ARGS, createContext(user, stores)),
      () => giveCodes(ARGS, createContext(user)),
    );
    expect([first.length, second]).toEqual([10, { status: 'fulfilled', value: expect.any(Array) }]);
    expect((await statusOf(user)).recoveryCodesLeft).toBe(10);
    const use = (code = '') => system.stores.secondFactors.useRecoveryCode(user.id, recoveryCodes.hash(user.id, code));
    expect(await use(first[0])).toBe(false);
    expect(await use((second as PromiseFulfilledResult<string[]>).value[0])).toBe(true);
  });

  it('that are replaced leave an entry in the audit trail', async () => {
    const user = await system.createUser();
    await addTotp(user);
    await giveCodes(ARGS, createContext(user));
    const events = await system.run(`SELECT "type", "actorId", "subject", "detail" FROM "security_events" WHERE "userId" = $1`, [user.id]);
    expect(events).toEqual([{ type: 'RECOVERY_CODES_REPLACED', actorId: null, subject: null, detail: null }]);
  });

  it('are given once when two first factors are added at once', async () => {
    const user = await system.createUser();
    const add = async (stores: UsersStores) => {
      await stores.secondFactors.lockAccount(user.id);
      await stores.passkeys.add(user.id, 'Key', newPasskey());
      return giveRecoveryCodes({ recoveryCodes }, stores, user.id);
    };
    const [first, second] = await system.besideTransaction(add, () => system.transact(add));
    expect([first.length, second]).toEqual([10, { status: 'fulfilled', value: [] }]);
  });

  it('go when the last two factors are removed at once', async () => {
    const user = await system.createUser();
    await addTotp(user);
    await system.stores.passkeys.add(user.id, 'Key', newPasskey());
    await giveCodes(ARGS, createContext(user));
    const [passkey] = await system.stores.passkeys.list(user.id);
    await system.besideTransaction(
      (stores) => removeTotp(ARGS, createContext(user, stores)),
      () => removePasskey({ ...ARGS, id: passkey?.id ?? '' }, createContext(user)),
    );
    expect(await statusOf(user)).toEqual({ hasTotp: false, passkeyCount: 0, recoveryCodesLeft: 0 });
  });

  it('are not replaced, and no factor is removed, after a new password', async () => {
    const user = await system.createUser();
    await addTotp(user);
    const codes = await giveCodes(ARGS, createContext(user));
    const change = `UPDATE "users" SET "passwordHash" = 'other' WHERE "id" = $1`;
    const replaced = system.duringTransaction(change, [user.id], () => giveCodes(ARGS, createContext(user)));
    await expect(replaced).rejects.toMatchObject({ code: 'CONFLICT' });
    await expect(removeTotp(ARGS, createContext(user))).rejects.toMatchObject({ code: 'CONFLICT' });
    expect(await statusOf(user)).toEqual({ hasTotp: true, passkeyCount: 0, recoveryCodesLeft: codes.length });
  });
});

describe('passkeys', () => {
  it('are at most ten, also of two requests that add one at once', async () => {
    const user = await system.createUser();
    for (let i = 0; i < 9; i++) await system.stores.passkeys.add(user.id, 'Key', newPasskey());
    const add = async (stores: UsersStores) => {
      await stores.secondFactors.lockAccount(user.id);
      return stores.passkeys.add(user.id, 'Key', newPasskey());
    };
    const [first, second] = await system.besideTransaction(add, () => system.transact(add));
    expect([first, second]).toEqual([true, { status: 'fulfilled', value: false }]);
  });
});
