/** Empties the databases and the file stores of a running stack, so that the next test file finds them as a new stack has them. */
import { existsSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { SUBGRAPH_NAMES, type SubgraphName } from '@trestle/schema/subgraphs';
import type { Stack } from './stack.ts';

/**
 * Tables that stay as they are, with their partitions: processes hold positions in the first ones, as in a history that goes on; the rows of
 * `security_events` cannot be removed; the others describe the database or the processes.
 */
const KEPT = '^(outbox|feed_positions|journal|security_events|search_builds|job_workers|_prisma_migrations)';

const TABLES = `SELECT table_name AS name FROM information_schema.tables
  WHERE table_schema = 'public' AND table_type = 'BASE TABLE' AND table_name !~ $1`;

/** How often a table is emptied that a process of the stack locks too. */
const ATTEMPTS = 5;

/**
 * Removes the rows of all other tables, and has their sequences begin again; then removes the files. Fails when a process of the stack does not
 * work.
 */
export async function emptyStack(stack: Pick<Stack, 'sql' | 'files' | 'subgraphs' | 'rest' | 'gateway'>): Promise<void> {
  await Promise.all(SUBGRAPH_NAMES.map((name) => emptyDatabase(stack, name)));
  await removeFiles(stack.files);
  const urls = [stack.rest, stack.gateway, ...SUBGRAPH_NAMES.map((name) => stack.subgraphs[name].url)];
  await Promise.all(urls.map(checkReady));
}

async function emptyDatabase({ sql }: Pick<Stack, 'sql'>, name: SubgraphName): Promise<void> {
  const tables = await sql<{ name: string }>(name, TABLES, [KEPT]);
  // TRUNCATE, not DELETE, whose triggers would record the removal of each row as an event.
  const statement = `TRUNCATE ${tables.map((table) => `"${table.name}"`).join(', ')} RESTART IDENTITY`;
  for (let left = ATTEMPTS; ; left--) {
    try {
      await sql(name, statement);
      return;
    } catch (error) {
      if (left === 1 || !isDeadlock(error)) throw error;
    }
  }
}

/** The folders remain. There are none before the first upload. */
async function removeFiles(folder: string): Promise<void> {
  if (!existsSync(folder)) return;
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  await Promise.all(files.map(({ parentPath, name }) => rm(join(parentPath, name), { force: true })));
}

/** The processes go on with what the last file has caused, and lock the same tables in another order. */
function isDeadlock(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '40P01';
}

async function checkReady(url: string): Promise<void> {
  const { status } = await fetch(`${url}/readyz`);
  if (status !== 200) throw new Error(`${url}/readyz answers ${String(status)}.`);
}
