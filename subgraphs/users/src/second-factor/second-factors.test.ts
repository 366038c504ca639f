/** Against a real PostgreSQL: logins with a second factor beside changes of their accounts. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createAttempts } from '../login/attempts.ts';
import type { Transact } from '../stores.ts';
import { TEST_CLIENT, type TestStores, openTestStores } from '../test-stores.ts';
import type { User } from '../user/rules.ts';
import { createRecoveryCodes } from './recovery-codes.ts';
import { createSecondFactors } from './second-factors.ts';
import { createTotp } from './totp.ts';

const SECRET = 's'.repeat(32);
const NEW_PASSWORD = `UPDATE "users" SET "passwordHash" = 'other' WHERE "id" = $1`;
const recoveryCodes = createRecoveryCodes(SECRET);
let system: TestStores;
beforeAll(async () => {
  system = await openTestStores(process.env['TEST_PG_URL'] ?? '');
});
afterAll(() => system.close());

/** Creates an account with an authenticator app and one recovery code. */
async function createProtected(): Promise<{ user: User; code: string }> {
  const user = await system.createUser();
  await system.run(`INSERT INTO "totp_secrets" ("userId", "secret", "confirmedAt") VALUES ($1, '', now())`, [user.id]);
  const [code = ''] = recoveryCodes.create();
  await system.stores.secondFactors.replaceRecoveryCodes(user.id, [recoveryCodes.hash(user.id, code)]);
  return { user, code };
}

/** Creates the checks; `transact` runs what uses up a code. */
const createChecks = (transact: Transact = system.transact) =>
  createSecondFactors({
    ...{ stores: system.stores, transact, recoveryCodes, passkeys: undefined, isRequiredForAdmins: false },
    ...{ attempts: createAttempts({ transact: system.transact, secret: SECRET }), totp: createTotp({ secret: SECRET, now: Date.now }) },
  });

const challengeOf = async (user: User): Promise<string> => {
  const error: unknown = await createChecks()
    .demand(user)
    .catch((reason: unknown) => reason);
  return (error as { secondFactor: { challenge: string } }).secondFactor.challenge;
};

describe('a login with a second factor', () => {
  it('is completed once, with the account as its password was checked', async () => {
    const { user, code } = await createProtected();
    const proof = { challenge: await challengeOf(user), code };
    expect(await createChecks().complete(proof, TEST_CLIENT)).toMatchObject({ id: user.id, tokenGeneration: user.tokenGeneration });
    await expect(createChecks().complete(proof, TEST_CLIENT)).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
  });

  it('cannot be completed when a new password came between the check of the password and the challenge', async () => {
    const { user, code } = await createProtected();
    await system.run(NEW_PASSWORD, [user.id]);
    const challenge = await challengeOf(user);
    await expect(createChecks().complete({ challenge, code }, TEST_CLIENT)).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
  });

  it('cannot be completed, and uses up no code, when a new password comes while the code is checked', async () => {
    const { user, code } = await createProtected();
    const challenge = await challengeOf(user);
    const late = createChecks(async (work) => {
      await system.run(NEW_PASSWORD, [user.id]);
      return system.transact(work);
    });
    await expect(late.complete({ challenge, code }, TEST_CLIENT)).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
    expect((await system.stores.secondFactors.status(user.id)).recoveryCodesLeft).toBe(1);
  });

  it('cannot be completed when a new password comes after the code was used up', async () => {
    const { user, code } = await createProtected();
    const challenge = await challengeOf(user);
    const late = createChecks(async (work) => {
      const result = await system.transact(work);
      await system.run(NEW_PASSWORD, [user.id]);
      return result;
    });
    await expect(late.complete({ challenge, code }, TEST_CLIENT)).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
  });
});
