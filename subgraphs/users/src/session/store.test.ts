/** Against a real PostgreSQL: logins beside changes of their accounts. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { TEST_CLIENT, type TestStores, openTestStores } from '../test-stores.ts';
import type { User } from '../user/rules.ts';

let system: TestStores;
beforeAll(async () => {
  system = await openTestStores(process.env['TEST_PG_URL'] ?? '');
});
afterAll(() => system.close());

const begin = (account: User) => system.stores.sessions.begin(account, randomBytes(32), TEST_CLIENT);
const liveSessions = async ({ id }: User) =>
  (await system.run(`SELECT FROM "sessions" WHERE "userId" = $1 AND "endedAt" IS NULL`, [id])).length;
/** Creates an account, and returns it as a login with its password reads it. */
const readForLogin = async () => {
  const { email } = await system.createUser();
  const { account } = await system.stores.users.findForLogin(email);
  return account as NonNullable<typeof account>;
};

/** What ends the sessions of an account, or the account. */
const CHANGES = [
  ['a new password', `UPDATE "users" SET "passwordHash" = 'other' WHERE "id" = $1`],
  ['a new e-mail address', `UPDATE "users" SET "email" = 'new' || "email" WHERE "id" = $1`],
  ['a deactivation', `UPDATE "users" SET "isActive" = false WHERE "id" = $1`],
  ['the end of all sessions', `UPDATE "users" SET "tokenGeneration" = "tokenGeneration" + 1 WHERE "id" = $1`],
  ['a deletion', `DELETE FROM "users" WHERE "id" = $1`],
] as const;

describe('a login', () => {
  it.each(CHANGES)('begins no session after %s since its password was checked', async (_, change) => {
    const account = await readForLogin();
    await system.run(change, [account.id]);
    expect(await begin(account)).toBeUndefined();
    expect(await liveSessions(account)).toBe(0);
  });

  it.each(CHANGES)('begins no session beside %s that is committed a moment later', async (_, change) => {
    const account = await readForLogin();
    expect(await system.duringTransaction(change, [account.id], () => begin(account))).toBeUndefined();
    expect(await liveSessions(account)).toBe(0);
  });

  it('that is not committed yet makes a new password wait, which then ends its session', async () => {
    const account = await readForLogin();
    await system.transact(async ({ sessions }) => {
      expect(await sessions.begin(account, randomBytes(32), TEST_CLIENT)).toMatchObject({ ended: [] });
      const refused = system.run(`SET lock_timeout = '50ms'; UPDATE "users" SET "passwordHash" = 'other' WHERE "id" = '${account.id}'`);
      await expect(refused).rejects.toMatchObject({ code: '55P03' });
    });
    expect(await liveSessions(account)).toBe(1);
    await system.run(`UPDATE "users" SET "passwordHash" = 'other' WHERE "id" = $1`, [account.id]);
    expect(await liveSessions(account)).toBe(0);
  });

  it('begins sessions beside other logins and changes that end none, and ends the least recent of too many', async () => {
    const account = await readForLogin();
    await system.stores.users.update(account.id, { bio: 'A biography' }, { expectedVersions: undefined });
    const begun = await Promise.all([begin(account), begin(account), begin(account)]);
    expect(begun.every((each) => each?.ended.length === 0)).toBe(true);
    await system.run(
      `INSERT INTO "sessions" ("id", "userId", "tokenHash", "device", "createdAt", "lastUsedAt", "expiresAt")
       SELECT 'ses_' || n, $1, sha256(n::text::bytea), 'test', now(), now() + n * interval '1 second', now() + interval '1 day'
       FROM generate_series(1, 497) n`,
      [account.id],
    );
    expect((await begin(account))?.ended).toHaveLength(1);
    expect(await liveSessions(account)).toBe(500);
  });
});

describe('the used tokens of a session', () => {
  it('are forgotten beyond the latest 1000, and those of other sessions stay', async () => {
    const account = await readForLogin();
    const tokens = [randomBytes(32), randomBytes(32)] as const;
    const begun = await system.stores.sessions.begin(account, tokens[0], TEST_CLIENT);
    const other = await begin(account);
    for (const id of [begun?.id, other?.id])
      await system.run(
        `INSERT INTO "used_refresh_tokens" ("hash", "sessionId", "usedAt")
         SELECT sha256(($1 || n)::bytea), $1, now() - n * interval '1 minute' FROM generate_series(1, 1005) n`,
        [id],
      );
    expect(await system.stores.sessions.rotate(tokens[0], tokens[1], TEST_CLIENT)).toMatchObject({ id: account.id });
    const kept = await system.run<{ id: string; count: number }>(
      `SELECT "sessionId" AS "id", count(*)::int FROM "used_refresh_tokens" WHERE "sessionId" = ANY($1) GROUP BY 1`,
      [[begun?.id, other?.id]],
    );
    expect(Object.fromEntries(kept.map(({ id, count }) => [id, count]))).toEqual({ [begun?.id ?? '']: 1000, [other?.id ?? '']: 1005 });
    expect(await system.stores.sessions.findReuse(tokens[0])).toMatchObject({ sessionId: begun?.id, isRecent: true });
  });
});
