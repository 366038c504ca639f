/** The databases, one for each subgraph: on the embedded server unless a setting names another one; made and migrated before any process starts. */
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@trestle/postgres/embedded';
import { DiskFullError, isDiskFull } from '@trestle/postgres/disk-full';
import { applyMigrations, ensureDatabase } from '@trestle/postgres/migrate';
import { SUBGRAPH_NAMES, type SubgraphName, eachSubgraph } from '@trestle/schema/subgraphs';

export type DatabaseUrls = Readonly<Record<SubgraphName, string>>;

/** An embedded server that crashed is looked for this often. */
const WATCH_MS = 250;
const MAX_PAUSE_MS = 5000;

export interface DatabasesOptions {
  /** What the settings name; the embedded server has the others. */
  readonly given: Partial<DatabaseUrls>;
  readonly dataDir: string;
  readonly port: number;
  /** Holds `<subgraph>/migrations`. */
  readonly migrations: string;
  /** Tells the person at the terminal. */
  readonly say: (line: string) => void;
}

export interface Databases {
  readonly urls: DatabaseUrls;
  /** Undefined when the settings name all databases. */
  readonly embedded: EmbeddedPostgres | undefined;
  stop(): Promise<void>;
}

/** Gives migrated databases. Throws, and leaves nothing running, when that can't be. */
export async function openDatabases({ given, dataDir, port, migrations, say }: DatabasesOptions): Promise<Databases> {
  const isEmbedded = SUBGRAPH_NAMES.some((name) => given[name] === undefined);
  const embedded = isEmbedded ? await startEmbeddedPostgres({ dataDir, port }) : undefined;
  const watch = embedded && keepRunning(embedded, { restart: () => startEmbeddedPostgres({ dataDir, port: embedded.port }), say });
  try {
    const urls = eachSubgraph((name) => given[name] ?? embedded?.url(`trestle_${name}`) ?? '');
    await Promise.all(SUBGRAPH_NAMES.map((name) => prepare(name, urls[name], migrations)));
    return { urls, embedded, stop: async () => watch?.stop() };
  } catch (error) {
    await watch?.stop();
    throw error;
  }
}

async function prepare(name: SubgraphName, url: string, migrations: string): Promise<void> {
  try {
    await ensureDatabase({ url });
    await applyMigrations({ url, directory: join(migrations, name, 'migrations') });
  } catch (cause) {
    if (isDiskFull(cause))
      throw new DiskFullError(`The disk of the database of ${name} is full. Free some space on it, and start again.`, { cause });
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`The database of ${name} can't be used: ${reason}`, { cause });
  }
}

/** Starts a server again that ended by itself; the processes reconnect on their own. */
function keepRunning(first: EmbeddedPostgres, { restart, say }: { restart: () => Promise<EmbeddedPostgres>; say: (line: string) => void }) {
  const end = new AbortController();
  const isOver = () => end.signal.aborted;
  let server = first;
  let pause = WATCH_MS;
  const watching = (async () => {
    while (!isOver()) {
      await delay(pause, undefined, { signal: end.signal, ref: false }).catch(() => undefined);
      if (isOver() || (await server.isRunning())) continue;
      say('PostgreSQL ended unexpectedly; starting it again');
      try {
        await server.stop();
        server = await restart();
        pause = WATCH_MS;
        say('PostgreSQL is ready again');
      } catch (error) {
        pause = Math.min(pause * 2, MAX_PAUSE_MS);
        say(`PostgreSQL did not start: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
  })();
  return {
    async stop() {
      end.abort();
      await watching;
      await server.stop();
    },
  };
}
