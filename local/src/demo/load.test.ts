import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { verify } from '@node-rs/argon2';
import { hashApiKey } from '@trestle/identity/credentials/api-keys';
import { type TestDatabase, createTestDatabase } from '@trestle/postgres/test-database';
import type { FileStore } from '@trestle/files/file-store';
import { createLocalStore } from '@trestle/files/local-store';
import pg from 'pg';
import type { DemoCredentials } from '../credentials.ts';
import type { DemoData } from './demo-data.ts';
import { DEMO_ACCOUNTS } from './accounts.ts';
import { loadDemoData } from './load.ts';

const apiKeySecret = 'a secret of the tests, of 32 bytes or more';
const adminUrl = process.env['TEST_PG_URL'] ?? '';

function makeCredentials(generation: string): DemoCredentials {
  const accounts = DEMO_ACCOUNTS.map(({ id, email, password, role, plan }) => ({
    email,
    password,
    role,
    plan,
    userId: id,
    apiKey: `${generation} ${email}`,
  }));
  return { accounts, oauthClients: [] };
}

describe('loadDemoData', () => {
  let databases: Record<keyof DemoData, TestDatabase>;
  let said: string[];
  let files: FileStore;
  let folder: string;
  const load = (credentials = makeCredentials('first')) =>
    loadDemoData({
      urls: { users: databases.users.url, orders: databases.orders.url, content: databases.content.url },
      credentials,
      apiKeySecret,
      files,
      say: (line) => said.push(line),
    });
  const query = async <Row extends object>(subgraph: keyof DemoData, text: string, values: unknown[] = []): Promise<Row[]> => {
    const client = new pg.Client({ connectionString: databases[subgraph].url });
    await client.connect();
    try {
      return (await client.query<Row>(text, values)).rows;
    } finally {
      await client.end();
    }
  };
  const count = async (subgraph: keyof DemoData, table: string) =>
    (await query<{ count: number }>(subgraph, `SELECT count(*)::int AS count FROM "${table}"`))[0]?.count;

  beforeEach(async () => {
    const [users, orders, content] = await Promise.all([
      createTestDatabase({ subgraph: 'users', adminUrl }),
      createTestDatabase({ subgraph: 'orders', adminUrl }),
      createTestDatabase({ subgraph: 'content', adminUrl }),
    ]);
    databases = { users, orders, content };
    said = [];
    folder = await mkdtemp(join(tmpdir(), 'trestle-demo-'));
    files = createLocalStore(folder);
  });
  afterEach(async () => {
    await Promise.all(Object.values(databases).map((database) => database.drop()));
    await rm(folder, { recursive: true });
  });

  it('loads the data once when two processes load it at the same time', async () => {
    const loaded = () => said.filter((line) => line.startsWith('Loaded')).length;
    // Each of the two prints what it loaded; each may be the first at some of the three databases.
    expect(await Promise.all([load(), load()])).toEqual([true, true]);
    const before = loaded();
    expect(before).toBeGreaterThan(0);
    await query('content', 'DELETE FROM comments');
    expect(await load()).toBe(true);
    expect(loaded()).toBe(before);
    expect(await count('users', 'users')).toBe(60);
    expect(await count('orders', 'orders')).toBe(330);
    expect(await count('content', 'comments')).toBe(0);
  });

  it('stores verifiable hashes of the passwords and API keys of the accounts', async () => {
    const credentials = makeCredentials('first');
    await load(credentials);
    for (const { email, password, role, plan, apiKey, userId } of credentials.accounts) {
      const [row] = await query<{ passwordHash: string; hash: Buffer; id: string }>(
        'users',
        `SELECT u."id", u."passwordHash", k."hash" FROM "users" u JOIN "api_keys" k ON k."userId" = u."id"
         WHERE u."email" = $1 AND u."role" = $2::"Role" AND u."plan" = $3::"Plan"`,
        [email, role, plan],
      );
      expect(row?.id).toBe(userId);
      expect(row?.passwordHash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
      expect(await verify(row?.passwordHash ?? '', password)).toBe(true);
      expect(row?.hash).toEqual(hashApiKey(apiKeySecret, apiKey));
    }
  });

  it('replaces the API keys when the data directory has new ones, and does not restore a deleted key', async () => {
    await load();
    const [ada] = DEMO_ACCOUNTS.filter(({ email }) => email === 'ada@example.com');
    await query('users', 'DELETE FROM "api_keys" WHERE "userId" = $1', [ada?.id]);
    const renewed = makeCredentials('second');
    await load(renewed);
    const hashes = (await query<{ hash: Buffer }>('users', 'SELECT "hash" FROM "api_keys"')).map(({ hash }) => hash.toString('hex'));
    const others = renewed.accounts.filter(({ userId }) => userId !== ada?.id);
    expect(hashes.sort()).toEqual(others.map(({ apiKey }) => hashApiKey(apiKeySecret, apiKey).toString('hex')).sort());
  });

  it('does not change a database that contains other data', async () => {
    await query(
      'orders',
      `INSERT INTO products ("name", "description", "category", "price", "currency", "stock") VALUES ('own', '', 'own', 1, 'EUR', 1)`,
    );
    expect(await load()).toBe(true);
    expect(await count('orders', 'products')).toBe(1);
    expect(await count('orders', 'orders')).toBe(0);
    expect(await count('content', 'posts')).toBe(220);
    expect(said.join()).toContain('The database of orders contains other data');
  });

  it('rolls back when it fails, and succeeds the next time', async () => {
    await query('content', 'ALTER TABLE messages ADD CONSTRAINT in_the_way CHECK (false)');
    await expect(load()).rejects.toThrow('in_the_way');
    expect(await count('content', 'posts')).toBe(0);
    await query('content', 'ALTER TABLE messages DROP CONSTRAINT in_the_way');
    await load();
    expect(await count('content', 'posts')).toBe(220);
    expect(await count('users', 'users')).toBe(60);
  });

  it('numbers new products and invoices after those of the demo data', async () => {
    await load();
    const [product] = await query<{ id: number }>(
      'orders',
      `INSERT INTO products ("name", "description", "category", "price", "currency", "stock") VALUES ('own', '', 'own', 1, 'EUR', 1) RETURNING "id"`,
    );
    expect(product?.id).toBe(65);
    expect(await query('orders', `SELECT nextval(pg_get_serial_sequence('invoices', 'number'))::int AS next`)).toEqual([{ next: 331 }]);
  });
});
