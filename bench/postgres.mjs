/** Runs an embedded PostgreSQL for one benchmark. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '@trestle/postgres/embedded';

/**
 * Calls `work` with a running server and resolves with its result. `onLog` receives the server's log. Then stops the server and removes its
 * files, unless `keep` names a directory for them, where another run finds them again.
 */
export async function withPostgres({ flags = [], onLog, keep }, work) {
  const home = keep ?? (await mkdtemp(join(tmpdir(), 'trestle-bench-')));
  const server = await startEmbeddedPostgres({ dataDir: home, flags, onLog });
  process.env.TEST_PG_URL = server.url('postgres');
  try {
    return await work(server);
  } finally {
    await server.stop();
    if (keep === undefined) await rm(home, { recursive: true, force: true });
  }
}
