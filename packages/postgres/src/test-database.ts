/** Databases for tests: each one is a copy of a migrated template, created in milliseconds and dropped after the test. */
import { createHash, randomUUID } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withClient } from './client.ts';
import { applyMigrations } from './migrate.ts';

/** Key of the advisory lock that lets one test process at a time create a template. */
const TEMPLATE_LOCK = 72707370;

/** Holds a database of one test. */
export interface TestDatabase {
  readonly url: string;
  /** Drops the database, and closes connections that are still open. */
  drop(): Promise<void>;
}

/** Creates an empty database with the migrations of a subgraph (`users`, `orders` or `content`) on the server of `adminUrl`. */
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
  await withClient(adminUrl, async (admin) => {
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
    drop: () => withClient(adminUrl, (admin) => admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`).then(() => undefined)),
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
