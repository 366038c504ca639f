/** `npm run admin:reset-second-factor` on a real database. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { withClient } from '@trestle/postgres/client';
import { type TestDatabase, createTestDatabase } from '@trestle/postgres/test-database';

const MAIN = fileURLToPath(new URL('../../dist/second-factor-reset/main.js', import.meta.url));

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase({ subgraph: 'users', adminUrl: process.env['TEST_PG_URL'] ?? '' });
  await withClient(database.url, async (client) => {
    for (const name of ['ada', 'bob'])
      await client.query(
        `INSERT INTO users (id, email, name, "passwordHash", "createdAt", "updatedAt") VALUES ($1, $2, $3, 'x', now(), now())`,
        [`usr_${name}`, `${name}@example.org`, name],
      );
    await client.query(`INSERT INTO totp_secrets ("userId", secret, "confirmedAt") VALUES ('usr_ada', 'x', now())`);
    await client.query(`INSERT INTO recovery_codes ("userId", hash) VALUES ('usr_ada', 'x'), ('usr_ada', 'y')`);
    await client.query(
      `INSERT INTO passkeys (id, "userId", name, "credentialId", "publicKey", counter) VALUES ('pky_1', 'usr_ada', 'key', 'x', 'x', 0)`,
    );
  });
});
afterAll(() => database.drop());

function run(...args: string[]) {
  const env = { PATH: process.env['PATH'], USERS_DATABASE_URL: database.url };
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, ...args], { env, encoding: 'utf8' });
  return { status, stdout, stderr };
}

async function read<Row extends object>(text: string): Promise<Row[]> {
  let rows: Row[] = [];
  await withClient(database.url, async (client) => {
    rows = (await client.query<Row>(text)).rows;
  });
  return rows;
}

const LEFT = `SELECT (SELECT count(*)::int FROM totp_secrets) + (SELECT count(*)::int FROM passkeys) + (SELECT count(*)::int FROM recovery_codes) AS count`;

it.each([
  ['an unknown address', ['--email', 'nobody@example.org'], 1, 'No account has the e-mail address nobody@example.org.'],
  ['an account without a second factor', ['--email', 'bob@example.org'], 1, 'Account usr_bob has no second factor.'],
  ['an argument that does not exist', ['--all'], 2, 'Usage:'],
  ['no address', [], 1, '--email is required.'],
])('refuses %s, and changes nothing', async (_, args, status, message) => {
  const refused = run(...args);
  expect([refused.status, refused.stderr]).toEqual([status, expect.stringContaining(message)]);
  expect(await read(LEFT)).toEqual([{ count: 4 }]);
});

it('removes app, passkeys and recovery codes, revokes the tokens, and records it', async () => {
  expect(run('--email', 'ADA@example.org')).toEqual({
    status: 0,
    stdout: 'Account usr_ada has no second factor any more (removed: totp, 1 passkeys). Its sessions have ended.\n',
    stderr: '',
  });
  expect(await read(LEFT)).toEqual([{ count: 0 }]);
  expect(await read(`SELECT "tokenGeneration" FROM users ORDER BY id`)).toEqual([{ tokenGeneration: 1 }, { tokenGeneration: 0 }]);
  const events = await read(`SELECT type, "userId", detail, address, device FROM security_events ORDER BY id`);
  const common = { userId: 'usr_ada', address: null, device: 'npm run admin:reset-second-factor' };
  expect(events).toEqual([
    { ...common, type: 'SECOND_FACTOR_DISABLED', detail: 'totp, 1 passkeys, by an operator' },
    { ...common, type: 'SESSIONS_ENDED', detail: null },
  ]);
});
