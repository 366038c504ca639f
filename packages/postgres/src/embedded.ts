/** Starts a private PostgreSQL server from the binaries of npm, or attaches to one that an earlier process left running. */
import { spawn, spawnSync } from 'node:child_process';
import { chmod, mkdir } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { findBinaries, hashOf, isOurs, serverUser } from './binaries.ts';
import { ensureCluster } from './cluster.ts';
import { isDiskFull, toDiskFullError } from './disk-full.ts';
import { removeAbandonedDrafts } from './drafts.ts';
import { findRunning, ownServer, setAsideForeignLock } from './postmaster.ts';

/** Configures the server. */
export interface EmbeddedPostgresOptions {
  /** Data directory of the cluster, created at the first start. One process at a time owns it. */
  readonly dataDir: string;
  /** Port to listen on; a free one by default. */
  readonly port?: number;
  /** Additional arguments of the server, such as `-c`, `fsync=off`. */
  readonly flags?: readonly string[];
  /** Receives what the server writes to its log. */
  readonly onLog?: (text: string) => void;
}

/** Controls a running server. */
export interface EmbeddedPostgres {
  /** Returns the URL of a database. It contains the superuser's password and must not be logged. */
  url(database: string): string;
  /** Port that the server listens on; for an attached server it may differ from the configured one. */
  readonly port: number;
  /** Data directory that is used: another one than configured when the server's user cannot access that. */
  readonly dataDir: string;
  /** Whether the server was running before. */
  readonly attached: boolean;
  /** Resolves with whether the server is running. */
  isRunning(): Promise<boolean>;
  /** Stops the server, also an attached one, and rolls back open transactions. */
  stop(): Promise<void>;
}

/** A killed server holds its lock until the system has reaped the process, and its shared memory until its last child has ended. */
const LOCK_TIMEOUT_MS = 10_000;
const POLL_MS = 50;

/** Returns the URLs of the databases of a running server; undefined when none runs in the directory. They contain the superuser's password. */
export async function findEmbeddedPostgres(dataDir: string): Promise<EmbeddedPostgres['url'] | undefined> {
  const reachable = await toReachable(resolve(dataDir));
  const running = await findRunning(reachable);
  if (!running) return undefined;
  const password = await ensureCluster(await findBinaries(), reachable);
  return (database) => `postgresql://postgres:${password}@127.0.0.1:${String(running.port)}/${database}`;
}

/**
 * Starts the server or attaches to a running one. It listens on the loopback interface only. Throws an error that says what to do when
 * the port is in use, the disk is full, the directory is not a complete cluster, another server uses it, or the programs do not run.
 */
export async function startEmbeddedPostgres({
  dataDir: wanted,
  port,
  flags = [],
  onLog,
}: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const binaries = await findBinaries();
  const dataDir = await toReachable(resolve(wanted));
  await removeAbandonedDrafts(dataDir);
  const password = await ensureCluster(binaries, dataDir);
  const urlAt = (at: number) => (database: string) => `postgresql://postgres:${password}@127.0.0.1:${String(at)}/${database}`;

  const deadline = Date.now() + LOCK_TIMEOUT_MS;
  for (;;) {
    const running = await findRunning(dataDir);
    if (running && (await answers(urlAt(running.port)('postgres')))) {
      return { url: urlAt(running.port), port: running.port, dataDir, attached: true, ...ownServer(dataDir, running.pid) };
    }
    const launched = await launch(binaries, { dataDir, port: port ?? (await findFreePort()), flags, onLog });
    if ('pid' in launched) {
      return { url: urlAt(launched.port), port: launched.port, dataDir, attached: false, ...ownServer(dataDir, launched.pid) };
    }
    if (launched.failure === 'locked' && (await setAsideForeignLock(dataDir))) continue;
    const isTemporary = launched.failure === 'locked' || (launched.failure === 'port in use' && port === undefined);
    if (!isTemporary || Date.now() > deadline) throw startError(launched, dataDir);
    await delay(POLL_MS);
  }
}

/** Returns whether the server of this directory, left running by an earlier process, listens on the port. A start would attach to it. */
export async function isLeftRunning({ dataDir, port }: { readonly dataDir: string; readonly port: number }): Promise<boolean> {
  const running = await findRunning(await toReachable(resolve(dataDir)));
  return running?.port === port;
}

/** Returns the directory, or one in the system's temporary directory when the server's user cannot access it. */
async function toReachable(dataDir: string): Promise<string> {
  if (!serverUser || (await makeParent(dataDir))) return dataDir;
  const elsewhere = join(tmpdir(), `trestle-data-${hashOf(dataDir)}`);
  await isOurs(elsewhere);
  if (await makeParent(elsewhere)) return elsewhere;
  throw new Error(`The user of the database server (uid ${String(serverUser.uid)}) can access neither ${dirname(dataDir)} nor ${tmpdir()}`);
}

/** Creates the parent of the data directory, and returns whether the server's user can access it. Changes permissions only of folders that it creates. */
async function makeParent(dataDir: string): Promise<boolean> {
  const parent = dirname(dataDir);
  const made = await mkdir(parent, { recursive: true });
  if (made) for (let path = parent; path.length >= made.length; path = dirname(path)) await chmod(path, 0o711);
  return spawnSync('test', ['-x', parent], { ...serverUser, cwd: '/' }).status === 0;
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}

interface Launch {
  readonly dataDir: string;
  readonly port: number;
  readonly flags: readonly string[];
  readonly onLog: ((text: string) => void) | undefined;
}

interface Failure {
  readonly failure: 'disk full' | 'locked' | 'port in use' | 'other';
  readonly port: number;
  readonly log: string;
}

/** Recovery after a crash with one sync of the file system instead of one per file: 0.1 s instead of several seconds. */
const RECOVERY = process.platform === 'linux' ? ['-c', 'recovery_init_sync_method=syncfs'] : [];

/** Also of a standby. */
const READY = /ready to accept (?:read-only )?connections/;

/** Starts the server. Resolves when it is ready, or with the reason when it ends. */
function launch(binaries: string, { dataDir, port, flags, onLog }: Launch): Promise<{ pid: number; port: number } | Failure> {
  return new Promise((settle) => {
    const args = ['-D', dataDir, '-p', String(port), '-h', '127.0.0.1', '-k', '', '-c', 'log_checkpoints=off', ...RECOVERY, ...flags];
    // In its own process group, so that Ctrl-C in a terminal does not reach PostgreSQL, which must end last.
    const options = { ...serverUser, cwd: dataDir, detached: true };
    const child = spawn(join(binaries, 'bin', 'postgres'), args, { ...options, stdio: ['ignore', 'ignore', 'pipe'] });
    let log = '';
    let ready = false;
    child.stderr.on('data', (chunk: Buffer) => {
      onLog?.(chunk.toString());
      log = (log + chunk.toString()).slice(-8192);
      if (ready || child.pid === undefined || !READY.test(log)) return;
      ready = true;
      settle({ pid: child.pid, port });
    });
    child.once('error', (error) => {
      settle({ failure: 'other', port, log: error.message });
    });
    child.once('close', () => {
      settle({ failure: toFailure(log), port, log });
    });
  });
}

function toFailure(log: string): Failure['failure'] {
  // On a full disk the lock file fails first, so this check comes before the one for the lock.
  if (isDiskFull(log)) return 'disk full';
  if (log.includes('lock file "postmaster.pid"') || log.includes('pre-existing shared memory block')) return 'locked';
  return log.includes('could not bind') ? 'port in use' : 'other';
}

function startError({ failure, port, log }: Failure, dataDir: string): Error {
  if (failure === 'disk full') return toDiskFullError(dataDir, new Error(log));
  if (failure === 'port in use') return new Error(`Port ${String(port)} is already in use. Set PG_PORT to another port for PostgreSQL.`);
  if (failure === 'locked') return new Error(`Another PostgreSQL server uses ${dataDir} and does not respond:\n${log}`);
  return new Error(`PostgreSQL did not start:\n${log}`);
}

function findFreePort(): Promise<number> {
  return new Promise((settle, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => {
        settle(port);
      });
    });
  });
}
