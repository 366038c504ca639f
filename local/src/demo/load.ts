/** Loads the demo data once: in one transaction per database, which also records that the data was loaded. */
import { createHash } from 'node:crypto';
import { hash } from '@node-rs/argon2';
import { SCOPES } from '@trestle/identity/scopes';
import { hashApiKey, lastFourOf } from '@trestle/identity/credentials/api-keys';
import { withClient } from '@trestle/postgres/client';
import type { FileStore } from '@trestle/files/file-store';
import type pg from 'pg';
import type { DemoCredentials } from '../credentials.ts';
import type { DatabaseUrls } from '../databases.ts';
import { DEMO_ACCOUNTS } from './accounts.ts';
import { type DemoData, createDemoData } from './demo-data.ts';
import { storeVideoFiles } from './video-files.ts';
import { DEMO_CLIENTS, DEMO_CLIENT_OWNER, DEMO_CLIENT_SCOPES } from './oauth-clients.ts';

/** Parameters with which the users subgraph hashes passwords (OWASP: 19 MiB, 2 passes, 1 lane). */
const ARGON2 = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
/** Key of the advisory lock that lets one supervisor at a time load the data. */
const DEMO_LOCK = 72707371;

/** The record is in a schema of its own, so that Prisma's tools do not find an unknown table. */
const RECORD = `CREATE SCHEMA IF NOT EXISTS "trestle_local";
  CREATE TABLE IF NOT EXISTS "trestle_local"."demo_data" ("loadedAt" TIMESTAMPTZ NOT NULL DEFAULT now())`;

/** A database that already has a row in this table is not changed. */
const FIRST_TABLE = { users: 'users', orders: 'products', content: 'posts' } as const;
/** Subgraphs that have demo data. */
const WITH_DEMO_DATA = ['users', 'orders', 'content'] as const satisfies readonly (keyof DemoData)[];

/** Configures loading. */
export interface LoadOptions {
  readonly urls: Pick<DatabaseUrls, keyof DemoData>;
  readonly credentials: DemoCredentials;
  /** The secret that the users subgraph hashes API keys with. */
  readonly apiKeySecret: string;
  /** Where the content of videos is stored. */
  readonly files: FileStore;
  /** Prints a line on the terminal. */
  readonly say: (line: string) => void;
}

type Outcome = 'loaded' | 'loaded before' | 'not empty';

/**
 * Loads the demo data into databases that do not have it, and stores the API keys of `credentials`. Databases with other data are not
 * changed. Returns whether the demo accounts exist.
 */
export async function loadDemoData({ urls, credentials, apiKeySecret, files, say }: LoadOptions): Promise<boolean> {
  let data: DemoData | undefined;
  const create = () => {
    if (!data) say('Loading demo data …');
    return (data ??= createDemoData());
  };
  const outcomes = await Promise.all(
    WITH_DEMO_DATA.map((name) =>
      withTransaction(urls[name], async (client) => {
        const outcome = await claim(client, FIRST_TABLE[name]);
        if (name === 'content' && outcome === 'loaded') await storeVideoFiles(files, create().content.videos);
        const tables: Record<string, readonly object[]> = outcome === 'loaded' ? create()[name] : {};
        for (const [table, rows] of Object.entries(tables)) await insert(client, { table, rows });
        if (name === 'users' && outcome !== 'not empty')
          await setCredentials(client, { credentials, apiKeySecret, isNew: outcome === 'loaded' });
        if (name === 'users' && outcome !== 'not empty') await setClients(client, credentials);
        if (name === 'orders' && outcome === 'loaded') await advanceSequences(client);
        return outcome;
      }),
    ),
  );
  WITH_DEMO_DATA.forEach((name, index) => {
    if (outcomes[index] === 'not empty') say(`The database of ${name} contains other data; demo data was not loaded into it`);
  });
  if (data) say(`Loaded ${describe(data)}`);
  return outcomes[WITH_DEMO_DATA.indexOf('users')] !== 'not empty';
}

/** Records the data as loaded when it is to be loaded now. A rollback removes the record. */
async function claim(client: pg.Client, table: string): Promise<Outcome> {
  await client.query('SELECT pg_advisory_xact_lock($1)', [DEMO_LOCK]);
  await client.query(RECORD);
  const { rowCount: isRecorded } = await client.query('SELECT 1 FROM "trestle_local"."demo_data"');
  if (isRecorded) return 'loaded before';
  const { rowCount: isUsed } = await client.query(`SELECT 1 FROM ${client.escapeIdentifier(table)} LIMIT 1`);
  if (isUsed) return 'not empty';
  await client.query('INSERT INTO "trestle_local"."demo_data" DEFAULT VALUES');
  return 'loaded';
}

/** Inserts all rows of a table with one statement. Columns that the rows do not have get their defaults. */
async function insert(client: pg.Client, { table, rows }: { table: string; rows: readonly object[] }): Promise<void> {
  const columns = Object.keys(rows[0] ?? {}).map((column) => client.escapeIdentifier(column));
  const name = client.escapeIdentifier(table);
  const list = columns.join(', ');
  await client.query(`INSERT INTO ${name} (${list}) SELECT ${list} FROM json_populate_recordset(NULL::${name}, $1)`, [
    JSON.stringify(rows),
  ]);
}

interface CredentialOptions extends Pick<LoadOptions, 'credentials' | 'apiKeySecret'> {
  readonly isNew: boolean;
}

/** Sets the passwords of the demo accounts when they are new, and replaces their API keys when those of the data directory have changed. */
async function setCredentials(client: pg.Client, { credentials, apiKeySecret, isNew }: CredentialOptions): Promise<void> {
  for (const { id, keyId, password, createdAt } of DEMO_ACCOUNTS) {
    const apiKey = credentials.accounts.find(({ userId }) => userId === id)?.apiKey ?? '';
    const [keyHash, lastFour] = [hashApiKey(apiKeySecret, apiKey), lastFourOf(apiKey)];
    if (isNew) {
      await client.query('UPDATE "users" SET "passwordHash" = $2 WHERE "id" = $1', [id, await hash(password, ARGON2)]);
      // With all scopes: contract §3 lets administrators do everything, with the key that `npm start` prints too.
      await client.query(
        `INSERT INTO "api_keys" ("id", "userId", "name", "hash", "lastFour", "scopes", "createdAt", "updatedAt")
         VALUES ($1, $2, 'Demo key', $3, $4, $5, $6, $6)`,
        [keyId, id, keyHash, lastFour, SCOPES, createdAt],
      );
    } else {
      await client.query(
        'UPDATE "api_keys" SET "hash" = $2, "lastFour" = $3, "expiresAt" = NULL, "successorId" = NULL WHERE "id" = $1 AND "hash" <> $2',
        [keyId, keyHash, lastFour],
      );
    }
  }
}

/** Registers the demo clients, and replaces their secrets when those of the data directory have changed. */
async function setClients(client: pg.Client, { oauthClients }: DemoCredentials): Promise<void> {
  for (const { id, name, redirectUris, grantTypes } of DEMO_CLIENTS) {
    const known = oauthClients.find(({ clientId }) => clientId === id);
    if (!known) continue;
    const secret = known.clientSecret;
    const secretHash = secret === undefined ? null : createHash('sha256').update(secret).digest();
    await client.query(
      `INSERT INTO "oauth_clients" ("id", "ownerId", "name", "secretHash", "redirectUris", "grantTypes", "scopes")
       SELECT $1, "id", $3, $4, $5, $6, $7 FROM "users" WHERE "id" = $2
       ON CONFLICT ("id") DO UPDATE SET "secretHash" = EXCLUDED."secretHash"`,
      [id, DEMO_CLIENT_OWNER, name, secretHash, redirectUris, grantTypes, DEMO_CLIENT_SCOPES],
    );
  }
}

/** Advances the sequences of products and invoices beyond the numbers of the demo data. */
async function advanceSequences(client: pg.Client): Promise<void> {
  await client.query(`SELECT setval(pg_get_serial_sequence('products', 'id'), (SELECT max("id") FROM "products"))`);
  await client.query(`SELECT setval(pg_get_serial_sequence('invoices', 'number'), (SELECT max("number") FROM "invoices"))`);
}

/** Runs the task in a transaction. When the task throws, the connection is closed without a commit. */
function withTransaction<T>(url: string, task: (client: pg.Client) => Promise<T>): Promise<T> {
  return withClient(url, async (client) => {
    await client.query('BEGIN');
    // Subscribers receive no events for demo data.
    await client.query("SET LOCAL trestle.events = 'off'");
    const result = await task(client);
    await client.query('COMMIT');
    return result;
  });
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
