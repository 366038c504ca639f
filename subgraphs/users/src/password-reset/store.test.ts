/** Against a real PostgreSQL: links that are mailed beside changes of their accounts. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestStores, openTestStores } from '../test-stores.ts';
import type { User } from '../user/rules.ts';

const NEW_ADDRESS = `UPDATE "users" SET "email" = 'new' || "email" WHERE "id" = $1`;
let system: TestStores;
beforeAll(async () => {
  system = await openTestStores(process.env['TEST_PG_URL'] ?? '');
});
afterAll(() => system.close());

async function add({ id, tokenGeneration }: User) {
  const tokenHash = randomBytes(32);
  const isAdded = await system.stores.passwordResets.add({ tokenHash, userId: id, generation: tokenGeneration, jobId: 'job_1' });
  return { isAdded, account: await system.stores.passwordResets.find(tokenHash) };
}

describe('a link by which a password is reset', () => {
  it('becomes valid for the account whose address was read', async () => {
    const user = await system.createUser();
    expect(await add(user)).toMatchObject({ isAdded: true, account: { userId: user.id, email: user.email } });
  });

  it('does not become valid when the address was changed after it was read', async () => {
    const user = await system.createUser();
    await system.run(NEW_ADDRESS, [user.id]);
    expect(await add(user)).toEqual({ isAdded: false, account: undefined });
  });

  it('does not become valid beside a change of the address that is committed a moment later', async () => {
    const user = await system.createUser();
    expect(await system.duringTransaction(NEW_ADDRESS, [user.id], () => add(user))).toEqual({ isAdded: false, account: undefined });
  });
});
