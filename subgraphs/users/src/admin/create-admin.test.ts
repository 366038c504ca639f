/** The first administrator: the command itself on a real database, and its prompts at a terminal. */
import { spawn } from 'node:child_process';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { withClient } from '@trestle/postgres/client';
import { type TestDatabase, createTestDatabase } from '@trestle/postgres/test-database';
import pg from 'pg';
import { createIds } from '@trestle/chassis/values/ids';
import { createPasswords } from '../user/passwords.ts';
import { createAdmin } from './create-admin.ts';
import { type PasswordInput, readPassword } from './read-password.ts';

const MAIN = fileURLToPath(new URL('../../dist/admin/main.js', import.meta.url));
const PASSWORD = 'a-Passw0rd-of-mine';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase({ subgraph: 'users', adminUrl: process.env['TEST_PG_URL'] ?? '' });
});
afterAll(() => database.drop());

interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function run(args: readonly string[], input = '', env: Record<string, string> = { USERS_DATABASE_URL: database.url }): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [MAIN, ...args], { env: { PATH: process.env['PATH'], ...env } });
    const output = { stdout: '', stderr: '' };
    child.stdout.on('data', (chunk: Buffer) => (output.stdout += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (output.stderr += chunk.toString()));
    child.once('close', (code) => {
      resolve({ code, ...output });
    });
    // A command that refuses its arguments reads nothing.
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
  });
}

async function find(email: string) {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string; role: string; isActive: boolean; passwordHash: string }>(
      'SELECT * FROM "users" WHERE lower("email") = lower($1)',
      [email],
    );
    return rows;
  } finally {
    await client.end();
  }
}

describe('npm run admin:create', () => {
  it('creates an active administrator with the password from standard input, and refuses the same address again', async () => {
    const made = await run(['--email', 'root@example.org', '--name', 'Root'], `${PASSWORD}\n`);
    expect(made).toMatchObject({ code: 0, stderr: '' });
    expect(made.stdout).toMatch(/^root@example\.org \(usr_\w{26}\) is an administrator\.$/m);
    const [row] = await find('root@example.org');
    expect(row).toMatchObject({ name: 'Root', role: 'ADMIN', isActive: true });
    expect(await createPasswords().matches(PASSWORD, row?.passwordHash ?? null)).toBe(true);

    const again = await run(['--email', 'ROOT@example.org'], 'another-Passw0rd');
    expect(again.code).toBe(1);
    expect(again.stderr).toContain('already has the e-mail address ROOT@example.org. Use --promote to make it an administrator');
    const rows = await find('root@example.org');
    expect(rows).toHaveLength(1);
    expect(await createPasswords().matches(PASSWORD, rows[0]?.passwordHash ?? null)).toBe(true);
  });

  it('promotes an existing account only with --promote, and keeps its password', async () => {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query(`UPDATE "users" SET "role" = 'USER', "isActive" = false WHERE "email" = 'root@example.org'`);
    await client.end();
    const [before] = await find('root@example.org');
    expect(await run(['--email', 'root@example.org', '--promote'])).toMatchObject({ code: 0 });
    expect(await find('root@example.org')).toMatchObject([{ role: 'ADMIN', isActive: true, passwordHash: before?.passwordHash }]);
  });

  it('records in the audit trail what it did, without the e-mail address', async () => {
    const recorded = await withClient(database.url, async (client) => {
      const { rows } = await client.query('SELECT "type", "actorId", "detail", "device" FROM "security_events" ORDER BY "createdAt", "id"');
      return rows as unknown[];
    });
    const common = { actorId: null, device: 'npm run admin:create' };
    expect(recorded).toEqual([
      { ...common, type: 'ACCOUNT_CREATED', detail: 'ADMIN' },
      { ...common, type: 'ROLE_CHANGED', detail: 'USER to ADMIN' },
      { ...common, type: 'ACTIVITY_CHANGED', detail: 'inactive to active' },
    ]);
  });

  it('accepts no password as an argument', async () => {
    const refused = await run(['--email', 'a@example.org', '--password', PASSWORD]);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toMatch(/Unknown option '--password'[\s\S]*Usage: npm run admin:create/);
  });
});

describe('createAdmin', () => {
  /** A store that nothing gets as far as. */
  const nothing = () => Promise.reject(new Error('The store was called'));
  const dependencies = { users: { findByEmail: () => Promise.resolve(null) }, transact: nothing, passwords: createPasswords() };
  const make = (email: string, password: string) =>
    createAdmin(
      { ...dependencies, createId: createIds({ now: Date.now }) },
      { email, name: 'Root', readPassword: () => Promise.resolve(password) },
    );

  it.each([
    ['no address', PASSWORD, 'email'],
    ['short@example.org', 'short', 'password'],
    ['long@example.org', 'x'.repeat(129), 'password'],
    ['common@example.org', 'Password1234', 'password'],
  ])('validates as createUser does: address %j, password %j', async (email, password, field) => {
    await expect(make(email, password)).rejects.toMatchObject({ code: 'VALIDATION_ERROR', details: [{ field }] });
  });

  it('refuses a password on standard input that is too long', async () => {
    const input = new PassThrough();
    input.end('x'.repeat(5000));
    await expect(readPassword(input, new PassThrough())).rejects.toThrow('exceeds the limit of 4096 bytes');
  });
});

describe('a password at a terminal', () => {
  /** A terminal in raw mode: `setRawMode` is called, and nothing is shown by itself. */
  const type = (keys: string) => {
    const modes: boolean[] = [];
    const input = new PassThrough();
    const terminal: PasswordInput = Object.assign(input, { isTTY: true, setRawMode: (isRaw: boolean) => modes.push(isRaw) });
    const shown = new PassThrough();
    const password = readPassword(terminal, shown);
    // Each prompt gets its line once it is shown.
    const answers = keys.split('|');
    shown.on('data', (chunk: Buffer) => {
      if (chunk.toString().endsWith(': ')) input.write(answers.shift() ?? '');
    });
    return { password, modes, shown };
  };

  it('is typed twice, not shown, and may be corrected', async () => {
    const { password, modes, shown } = type('secreT-1\x7f2\r|secreT-2\r');
    const output: string[] = [];
    shown.on('data', (chunk: Buffer) => output.push(chunk.toString()));
    expect(await password).toBe('secreT-2');
    expect(output.join('')).toBe('Password: \nRepeat password: \n');
    expect(modes).toEqual([true, false, true, false]);
  });

  it('is refused when the two differ or the user cancels, and the terminal is restored', async () => {
    await expect(type('one\r|two\r').password).rejects.toThrow('The passwords differ');
    const { password, modes } = type('on\x03');
    await expect(password).rejects.toThrow('No password was entered');
    expect(modes).toEqual([true, false]);
  });
});
