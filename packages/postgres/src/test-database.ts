/** Databases for tests: each a clone of a migrated template, made in milliseconds and dropped at the end. */
import { createHash, randomUUID } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { applyMigrations } from './migrate.ts';

/** Makes one template at a time, whatever the number of test processes. */
const TEMPLATE_LOCK = 72707370;

export interface TestDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

/**
 * Gives a fresh database with the migrations of a subgraph (`users`, `orders` or `content`) on the server of `adminUrl`.
 * Call `drop` when every connection to it is closed.
 */
export async function createTestDatabase({
  subgraph,
  adminUrl,
}: {
  readonly subgraph: string;
  readonly adminUrl: string;
}): Promise<TestDatabase> {
  const directory = fileURLToPath(new URL(`../../../prisma/${subgraph}/migrations`, import.meta.url));
  const template = `template_${subgraph}_${hashOf(directory)}`;
  const name = `test_${subgraph}_${randomUUID().replaceAll('-', '')}`;
  await withAdmin(adminUrl, async (admin) => {
    await admin.query('SELECT pg_advisory_lock($1)', [TEMPLATE_LOCK]);
    const { rowCount } = await admin.query('SELECT 1 FROM pg_database WHERE datname = $1', [template]);
    if (!rowCount) {
      await admin.query(`DROP DATABASE IF EXISTS ${template}_draft WITH (FORCE)`);
      await admin.query(`CREATE DATABASE ${template}_draft`);
      await applyMigrations({ url: withDatabase(adminUrl, `${template}_draft`), directory });
      await admin.query(`ALTER DATABASE ${template}_draft RENAME TO ${template}`);
    }
    await admin.query(`CREATE DATABASE ${name} TEMPLATE ${template}`);
  });
  return {
    url: withDatabase(adminUrl, name),
    drop: () => withAdmin(adminUrl, (admin) => admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`).then(() => undefined)),
  };
}

function hashOf(directory: string): string {
  const hash = createHash('sha256');
  for (const name of readdirSync(directory).sort()) {
    if (!name.endsWith('.toml')) hash.update(readFileSync(join(directory, name, 'migration.sql')));
  }
  return hash.digest('hex').slice(0, 16);
}

function withDatabase(url: string, database: string): string {
  const result = new URL(url);
  result.pathname = `/${database}`;
  return result.href;
}

async function withAdmin(url: string, task: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await task(client);
  } finally {
    await client.end();
  }
}
