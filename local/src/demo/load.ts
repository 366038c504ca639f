/** Loads the demo data, once: one transaction a database, which also records that it happened. */
import { createHash } from 'node:crypto';
import { hash } from '@node-rs/argon2';
import pg from 'pg';
import type { DemoCredentials } from '../credentials.ts';
import type { DatabaseUrls } from '../databases.ts';
import { DEMO_ACCOUNTS } from './accounts.ts';
import { type DemoData, createDemoData } from './demo-data.ts';

/** As the users subgraph hashes them (OWASP: 19 MiB, 2 passes, 1 lane). */
const ARGON2 = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
/** Two supervisors on one database take turns. */
const DEMO_LOCK = 72707371;

/** A schema of our own, so that Prisma's tools see no table that they do not know. */
const RECORD = `CREATE SCHEMA IF NOT EXISTS "trestle_local";
  CREATE TABLE IF NOT EXISTS "trestle_local"."demo_data" ("loadedAt" TIMESTAMPTZ NOT NULL DEFAULT now())`;

/** A database that has any of these rows is somebody's own and gets no demo data. */
const FIRST_TABLE = { users: 'users', orders: 'products', content: 'posts' } as const;
/** The subgraphs that have demo data. */
const WITH_DEMO_DATA = ['users', 'orders', 'content'] as const satisfies readonly (keyof DemoData)[];

export interface LoadOptions {
  readonly urls: Pick<DatabaseUrls, keyof DemoData>;
  readonly credentials: DemoCredentials;
  /** Tells the person at the terminal. */
  readonly say: (line: string) => void;
}

type Outcome = 'loaded' | 'was there' | 'not empty';

/** Loads what is missing, and makes the API keys of `credentials` valid. Other data is left alone. Gives whether the demo accounts are there. */
export async function loadDemoData({ urls, credentials, say }: LoadOptions): Promise<boolean> {
  let data: DemoData | undefined;
  const create = () => {
    if (!data) say('Loading demo data …');
    return (data ??= createDemoData());
  };
  const outcomes = await Promise.all(
    WITH_DEMO_DATA.map((name) =>
      withTransaction(urls[name], async (client) => {
        const outcome = await claim(client, FIRST_TABLE[name]);
        const tables: Record<string, readonly object[]> = outcome === 'loaded' ? create()[name] : {};
        for (const [table, rows] of Object.entries(tables)) await insert(client, { table, rows });
        if (name === 'users' && outcome !== 'not empty') await openAccounts(client, { credentials, isNew: outcome === 'loaded' });
        if (name === 'orders' && outcome === 'loaded') await countOn(client);
        return outcome;
      }),
    ),
  );
  WITH_DEMO_DATA.forEach((name, index) => {
    if (outcomes[index] === 'not empty') say(`The database of ${name} has data of its own, so it gets no demo data`);
  });
  if (data) say(`Loaded ${describe(data)}`);
  return outcomes[WITH_DEMO_DATA.indexOf('users')] !== 'not empty';
}

/** Whether the data is to be loaded now; a transaction that fails takes the record back. */
async function claim(client: pg.Client, table: string): Promise<Outcome> {
  await client.query('SELECT pg_advisory_xact_lock($1)', [DEMO_LOCK]);
  await client.query(RECORD);
  const { rowCount: isRecorded } = await client.query('SELECT 1 FROM "trestle_local"."demo_data"');
  if (isRecorded) return 'was there';
  const { rowCount: isUsed } = await client.query(`SELECT 1 FROM ${client.escapeIdentifier(table)} LIMIT 1`);
  if (isUsed) return 'not empty';
  await client.query('INSERT INTO "trestle_local"."demo_data" DEFAULT VALUES');
  return 'loaded';
}

/** One statement a table. Columns that the rows do not name get their defaults. */
async function insert(client: pg.Client, { table, rows }: { table: string; rows: readonly object[] }): Promise<void> {
  const columns = Object.keys(rows[0] ?? {}).map((column) => client.escapeIdentifier(column));
  const name = client.escapeIdentifier(table);
  const list = columns.join(', ');
  await client.query(`INSERT INTO ${name} (${list}) SELECT ${list} FROM json_populate_recordset(NULL::${name}, $1)`, [
    JSON.stringify(rows),
  ]);
}

/** Gives the four accounts their passwords once, and their API keys anew when those of the data directory were made anew. */
async function openAccounts(client: pg.Client, { credentials, isNew }: { credentials: DemoCredentials; isNew: boolean }): Promise<void> {
  for (const { id, keyId, password, createdAt } of DEMO_ACCOUNTS) {
    const apiKey = credentials.accounts.find(({ userId }) => userId === id)?.apiKey ?? '';
    const keyHash = createHash('sha256').update(apiKey).digest();
    if (isNew) {
      await client.query('UPDATE "users" SET "passwordHash" = $2 WHERE "id" = $1', [id, await hash(password, ARGON2)]);
      const values = [keyId, id, 'Demo key', keyHash, createdAt];
      await client.query('INSERT INTO "api_keys" ("id", "userId", "name", "hash", "createdAt") VALUES ($1, $2, $3, $4, $5)', values);
    } else {
      await client.query('UPDATE "api_keys" SET "hash" = $2 WHERE "id" = $1 AND "hash" <> $2', [keyId, keyHash]);
    }
  }
}

/** What is made from now on counts on behind the demo's own numbers. */
async function countOn(client: pg.Client): Promise<void> {
  await client.query(`SELECT setval(pg_get_serial_sequence('products', 'id'), (SELECT max("id") FROM "products"))`);
  await client.query(`SELECT setval(pg_get_serial_sequence('invoices', 'number'), (SELECT max("number") FROM "invoices"))`);
}

async function withTransaction<T>(url: string, task: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query('BEGIN');
    // Demo data is no news to whoever listens.
    await client.query("SET LOCAL trestle.events = 'off'");
    const result = await task(client);
    await client.query('COMMIT');
    return result;
  } finally {
    // Without a commit this rolls back.
    await client.end();
  }
}

function describe({ users, orders, content }: DemoData): string {
  const counts: [string, readonly unknown[]][] = [
    ['accounts', users.users],
    ['products', orders.products],
    ['orders', orders.orders],
    ['posts', content.posts],
    ['comments', content.comments],
    ['messages', content.messages],
    ['videos', content.videos],
  ];
  return counts.map(([name, { length }]) => `${String(length)} ${name}`).join(', ');
}
