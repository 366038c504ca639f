/** Against a real PostgreSQL: what a password reset does to the limits of logins. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createLog } from '@trestle/log';
import { createAttempts } from '../login/attempts.ts';
import { hashResetToken } from '../password-reset/token.ts';
import { TEST_CLIENT, type TestStores, openTestStores } from '../test-stores.ts';
import { openJobs } from './open-jobs.ts';

const secret = 's'.repeat(32);
let system: TestStores;
beforeAll(async () => {
  system = await openTestStores(process.env['TEST_PG_URL'] ?? '');
});
afterAll(() => system.close());

/** PostgreSQL and JavaScript write the last letter of the second name in lower case in two ways. */
it.each(['ada', 'ΑΣ'])('accepts a login after the password of %s@example.org was reset, though too many had failed', async (name) => {
  const { stores, transact } = system;
  const { id: userId, tokenGeneration } = await stores.users.create({ email: `${name}@example.org`, name: 'Ada', password: '' }, 'hash');
  const attempts = createAttempts({ transact, secret });
  const { loginName } = await stores.users.findForLogin(`${name}@example.org`);
  const attempt = { kind: 'login' as const, subject: loginName, userId, client: TEST_CLIENT };
  for (let i = 0; i < 10; i++) await attempts.run(attempt, () => Promise.resolve(null));
  const passwords = { hash: () => Promise.resolve('new hash'), matches: () => Promise.resolve(true) };
  const revoke = () => Promise.resolve();
  const log = createLog({ service: 'test', level: 'silent' });
  const jobs = openJobs({
    ...{ stores, transact, passwords, attempts, revoke, secret, log },
    ...{ origin: 'https://example.org', contentUrl: undefined, smtpUrl: undefined, mailFrom: undefined },
  });
  const token = randomBytes(32).toString('base64url');
  const tokenHash = hashResetToken(token) as Buffer;
  await stores.passwordResets.add({ tokenHash, userId, generation: tokenGeneration, jobId: 'job_1' });
  // The delay would end on a machine that is slow.
  await system.run(`UPDATE "failed_attempts" SET "blockedUntil" = clock_timestamp() + interval '1 hour'`);
  await jobs.dependencies.passwordResets.confirm({ token, password: 'Ada-passes-2', client: TEST_CLIENT });
  expect(await attempts.run(attempt, () => Promise.resolve('account'))).toBe('account');
});
