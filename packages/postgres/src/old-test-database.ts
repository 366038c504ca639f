/** Databases for tests of migrations: with the migrations before one of them, until the test applies the others. */
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withClient } from './client.ts';
import { applyMigrations } from './migrate.ts';
import { type TestDatabase, createTestDatabase } from './test-database.ts';

/** Holds a database of one test, with old migrations. */
export interface OldTestDatabase extends TestDatabase {
  /** Applies the other migrations, and returns their names. */
  upgrade(): Promise<string[]>;
}

/** Creates an empty database with those migrations of a subgraph whose names sort before `before`, on the server of `adminUrl`. */
export async function createOldTestDatabase({
  subgraph,
  adminUrl,
  before,
}: {
  readonly subgraph: string;
  readonly adminUrl: string;
  readonly before: string;
}): Promise<OldTestDatabase> {
  const directory = fileURLToPath(new URL(`../../../prisma/${subgraph}/migrations`, import.meta.url));
  const database = await createTestDatabase({ subgraph, adminUrl });
  const { url } = database;
  const old = await mkdtemp(join(tmpdir(), 'trestle-migrations-'));
  try {
    for (const name of (await readdir(directory)).filter((entry) => entry < before))
      await cp(join(directory, name), join(old, name), { recursive: true });
    await withClient(url, (client) => client.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public'));
    await applyMigrations({ url, directory: old });
  } catch (error) {
    await database.drop();
    throw error;
  } finally {
    await rm(old, { recursive: true });
  }
  return { ...database, upgrade: () => applyMigrations({ url, directory }) };
}
