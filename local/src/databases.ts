/** Opens one database per subgraph, and that of the registry: on the embedded server, unless a setting names another. Creates and migrates them before any process starts. */
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@trestle/postgres/embedded';
import { DiskFullError, isDiskFull } from '@trestle/postgres/disk-full';
import { applyMigrations, ensureDatabase } from '@trestle/postgres/migrate';
import { SUBGRAPH_NAMES, type SubgraphName } from '@trestle/schema/subgraphs';
import { type BackoffLimits, backoffMs } from '@trestle/service/process/backoff';

/** Names the owner of a database: a subgraph, or the registry. */
export type DatabaseOwner = SubgraphName | 'registry';

/** Lists all owners. */
export const DATABASE_OWNERS: readonly DatabaseOwner[] = [...SUBGRAPH_NAMES, 'registry'];

/** Maps each owner to the URL of its database. A URL may contain a password: it must not be logged. */
export type DatabaseUrls = Readonly<Record<DatabaseOwner, string>>;

/** Interval at which the embedded server is checked; also the first delay before another attempt to restart it. */
const CHECK_INTERVAL_MS = 250;
const RESTART_BACKOFF: BackoffLimits = { firstMs: 2 * CHECK_INTERVAL_MS, maxMs: 5000 };

/** Configures the databases. */
export interface DatabasesOptions {
  /** URLs that the settings name. The embedded server hosts the other databases. */
  readonly given: Partial<DatabaseUrls>;
  /** Directory of the embedded server's cluster. */
  readonly dataDir: string;
  /** Port of the embedded server. */
  readonly port: number;
  /** Folder that contains `<owner>/migrations`. */
  readonly migrations: string;
  /** Prints a line on the terminal. */
  readonly say: (line: string) => void;
}

/** Holds the open databases. */
export interface Databases {
  readonly urls: DatabaseUrls;
  /** The embedded server; undefined when the settings name all databases. */
  readonly embedded: EmbeddedPostgres | undefined;
  /** Stops the embedded server. */
  stop(): Promise<void>;
}

/** Creates and migrates the databases. On failure it stops the embedded server and throws. */
export async function openDatabases({ given, dataDir, port, migrations, say }: DatabasesOptions): Promise<Databases> {
  const isEmbedded = DATABASE_OWNERS.some((name) => given[name] === undefined);
  const embedded = isEmbedded ? await startEmbeddedPostgres({ dataDir, port }) : undefined;
  const watch = embedded && keepRunning(embedded, { restart: () => startEmbeddedPostgres({ dataDir, port: embedded.port }), say });
  try {
    const urlOf = (name: DatabaseOwner) => given[name] ?? embedded?.url(`trestle_${name}`) ?? '';
    const urls = Object.fromEntries(DATABASE_OWNERS.map((name) => [name, urlOf(name)])) as Record<DatabaseOwner, string>;
    await Promise.all(DATABASE_OWNERS.map((name) => prepare(name, urls[name], migrations)));
    return { urls, embedded, stop: async () => watch?.stop() };
  } catch (error) {
    await watch?.stop();
    throw error;
  }
}

async function prepare(name: DatabaseOwner, url: string, migrations: string): Promise<void> {
  try {
    await ensureDatabase({ url });
    await applyMigrations({ url, directory: join(migrations, name, 'migrations') });
  } catch (cause) {
    if (isDiskFull(cause))
      throw new DiskFullError(`The disk of the database of ${name} is full. Free some space on it and start again.`, { cause });
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`The database of ${name} cannot be used: ${reason}`, { cause });
  }
}

/** Restarts a server that ends unexpectedly. The subgraphs reconnect on their own. */
function keepRunning(first: EmbeddedPostgres, { restart, say }: { restart: () => Promise<EmbeddedPostgres>; say: (line: string) => void }) {
  const stopping = new AbortController();
  const isStopping = () => stopping.signal.aborted;
  let server = first;
  let failures = 0;
  const watching = (async () => {
    while (!isStopping()) {
      const delayMs = failures === 0 ? CHECK_INTERVAL_MS : backoffMs(failures, RESTART_BACKOFF);
      await delay(delayMs, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined);
      if (isStopping() || (await server.isRunning())) continue;
      say('PostgreSQL ended unexpectedly, restarting …');
      try {
        await server.stop();
        server = await restart();
        failures = 0;
        say('PostgreSQL is ready again');
      } catch (error) {
        failures++;
        say(`PostgreSQL did not start: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
  })();
  return {
    async stop() {
      stopping.abort();
      await watching;
      await server.stop();
    },
  };
}
