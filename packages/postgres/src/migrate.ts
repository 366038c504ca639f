/** Applies Prisma migrations without Prisma's engine, and records them exactly as `prisma migrate deploy` does. */
import { createHash, randomUUID } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { withClient } from './client.ts';

/** Key of the advisory lock that Prisma's engine takes as well: one process migrates, the others wait. */
const PRISMA_LOCK = 72707369;

/** Error codes of PostgreSQL (Appendix A of its manual). Concurrent creation of a database may violate a unique index of the catalog. */
const INVALID_CATALOG_NAME = '3D000';
const DUPLICATE = ['42P04', '23505'];

const MIGRATIONS_TABLE = `CREATE TABLE IF NOT EXISTS "_prisma_migrations" (
  "id" VARCHAR(36) PRIMARY KEY NOT NULL, "checksum" VARCHAR(64) NOT NULL, "finished_at" TIMESTAMPTZ,
  "migration_name" VARCHAR(255) NOT NULL, "logs" TEXT, "rolled_back_at" TIMESTAMPTZ,
  "started_at" TIMESTAMPTZ NOT NULL DEFAULT now(), "applied_steps_count" INTEGER NOT NULL DEFAULT 0)`;

interface Migration {
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
}

/** Creates the database of the URL unless it exists. Several processes may call it at the same time. */
export async function ensureDatabase({ url }: { readonly url: string }): Promise<void> {
  try {
    await withClient(url, () => Promise.resolve());
  } catch (error) {
    if (codeOf(error) !== INVALID_CATALOG_NAME) throw error;
    await createDatabase(url);
  }
}

async function createDatabase(url: string): Promise<void> {
  const admin = new URL(url);
  const database = decodeURIComponent(admin.pathname.slice(1));
  admin.pathname = '/postgres';
  await withClient(admin.href, (client) => client.query(`CREATE DATABASE ${client.escapeIdentifier(database)}`)).catch((error: unknown) => {
    // Another process has created it in the meantime.
    if (!DUPLICATE.includes(codeOf(error) ?? '')) throw error;
  });
}

/**
 * Applies the pending migrations of `directory/<name>/migration.sql` in the order of their names, and returns the names applied.
 * Each migration and its record are one transaction, so that a crash leaves both or neither; a migration must not commit.
 * Ignores migrations that only the database knows: an older release may start while a newer one is rolled out.
 * Throws when a migration fails, was edited after it was applied, or failed under Prisma and requires `prisma migrate resolve`.
 */
export async function applyMigrations({ url, directory }: { readonly url: string; readonly directory: string }): Promise<string[]> {
  const migrations = await readMigrations(directory);
  return withClient(url, async (client) => {
    await client.query('SELECT pg_advisory_lock($1)', [PRISMA_LOCK]);
    await client.query(MIGRATIONS_TABLE);
    const missing = await findMissing(client, migrations);
    for (const migration of missing) await apply(client, migration);
    return missing.map(({ name }) => name);
  });
}

async function readMigrations(directory: string): Promise<Migration[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  return Promise.all(
    names.sort().map(async (name) => {
      const sql = await readFile(join(directory, name, 'migration.sql'), 'utf8');
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    }),
  );
}

async function findMissing(client: pg.Client, migrations: readonly Migration[]): Promise<Migration[]> {
  const { rows } = await client.query<{ migration_name: string; checksum: string; finished_at: Date | null }>(
    'SELECT migration_name, checksum, finished_at FROM "_prisma_migrations" WHERE rolled_back_at IS NULL',
  );
  const recorded = new Map(rows.map((row) => [row.migration_name, row]));
  return migrations.filter(({ name, checksum }) => {
    const row = recorded.get(name);
    if (row && !row.finished_at) throw new Error(`Migration ${name} failed earlier. Resolve it with "prisma migrate resolve".`);
    if (row && row.checksum !== checksum)
      throw new Error(`Migration ${name} was edited after it was applied. Restore it, and put the change into a new migration.`);
    return !row;
  });
}

async function apply(client: pg.Client, { name, sql, checksum }: Migration): Promise<void> {
  const id = randomUUID();
  try {
    await client.query('BEGIN');
    await client.query(sql);
    await client.query(
      'INSERT INTO "_prisma_migrations" (id, checksum, migration_name, finished_at, applied_steps_count) VALUES ($1, $2, $3, clock_timestamp(), 1)',
      [id, checksum, name],
    );
    await client.query('COMMIT');
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    // Recorded as rolled back, so that the next start applies it again and Prisma does not refuse to continue.
    await client
      .query('ROLLBACK')
      .then(() =>
        client.query(
          'INSERT INTO "_prisma_migrations" (id, checksum, migration_name, logs, rolled_back_at) VALUES ($1, $2, $3, $4, now())',
          [id, checksum, name, reason],
        ),
      )
      .catch(() => undefined);
    throw new Error(`Migration ${name} failed and was rolled back: ${reason}`, { cause });
  }
}

function codeOf(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined;
}
