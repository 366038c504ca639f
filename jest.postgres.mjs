/**
 * Starts one embedded PostgreSQL per test run, and what lends running systems to scenarios (e2e/stack/stack-pool.ts). Each test creates its own
 * database from a template.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '@trestle/postgres/embedded';
import { startStackPool } from './e2e/dist/stack/stack-pool.js';

/**
 * Test data need not survive a crash. An ANALYZE of the server's own would be a transaction beside those of a test: a test of what VACUUM marks as
 * visible failed by it.
 */
const SETTINGS = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'autovacuum=off', 'max_connections=300'];
const FLAGS = SETTINGS.flatMap((setting) => ['-c', setting]);

export default async function start() {
  const home = await mkdtemp(join(tmpdir(), 'trestle-test-'));
  const server = await startEmbeddedPostgres({ dataDir: home, flags: FLAGS });
  process.env.TEST_PG_URL = server.url('postgres');
  const sockets = await mkdtemp(join(tmpdir(), 'trestle-stacks-'));
  process.env.TEST_STACKS_SOCKET = join(sockets, 'pool');
  const stacks = await startStackPool(process.env.TEST_STACKS_SOCKET);
  globalThis.stopTestSystem = async () => {
    await stacks.stop();
    await rm(sockets, { recursive: true, force: true });
    await server.stop();
    await rm(home, { recursive: true, force: true });
  };
}
