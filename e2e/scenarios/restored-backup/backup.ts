/** A backup of a subgraph's database, as docs/operations.md has it restored: all processes of the subgraph are stopped meanwhile. */
import { withClient } from '@trestle/postgres/client';
import type { Stack, SubgraphName } from '../../stack/stack.ts';

export interface Backup {
  /** Puts the database back to what it was when the backup was taken. */
  restore(): Promise<void>;
  drop(): Promise<void>;
}

/** Takes a backup. The name of a test database is made of letters, digits and underscores. */
export async function takeBackup(stack: Stack, subgraph: SubgraphName): Promise<Backup> {
  const [found] = await stack.sql<{ name: string }>(subgraph, 'SELECT current_database() AS "name"');
  const name = found?.name ?? '';
  const copy = `${name.slice(0, 50)}_copy`;
  await whileStopped(stack, subgraph, () => copyDatabase(name, copy));
  return {
    restore: () =>
      whileStopped(stack, subgraph, async () => {
        await run(`DROP DATABASE ${name} WITH (FORCE)`);
        await copyDatabase(copy, name);
      }),
    drop: () => run(`DROP DATABASE IF EXISTS ${copy} WITH (FORCE)`),
  };
}

async function whileStopped(stack: Stack, subgraph: SubgraphName, work: () => Promise<void>): Promise<void> {
  await stack.kill(subgraph);
  await work();
  await stack.revive(subgraph);
}

/** PostgreSQL copies only a database without connections. */
async function copyDatabase(from: string, to: string): Promise<void> {
  await run(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${from}'`);
  await run(`CREATE DATABASE ${to} TEMPLATE ${from}`);
}

function run(sql: string): Promise<void> {
  return withClient(process.env['TEST_PG_URL'] ?? '', async (admin) => {
    await admin.query(sql);
  });
}
