/** Starts a private PostgreSQL from the binaries of npm, or attaches to one that an earlier process left running. */
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

export interface EmbeddedPostgresOptions {
  /** Where the database cluster lives; made at the first start. One process at a time owns it. */
  readonly dataDir: string;
  /** Any free port when absent. */
  readonly port?: number;
  /** More arguments for the server, such as `-c`, `fsync=off`. */
  readonly flags?: readonly string[];
  /** Is given what the server writes to its log. */
  readonly onLog?: (text: string) => void;
}

export interface EmbeddedPostgres {
  /** A URL with the superuser's password: not for logs. */
  url(database: string): string;
  /** Of a server that was attached to, the port that it had from the start. */
  readonly port: number;
  /** Where the cluster really lives: elsewhere when the server's user can't reach the directory asked for. */
  readonly dataDir: string;
  /** Whether the server was running already. */
  readonly attached: boolean;
  isRunning(): Promise<boolean>;
  /** Ends the server, also one that was attached to; open transactions are rolled back. */
  stop(): Promise<void>;
}

/** The lock of a server that was killed stays until the system has reaped it. */
const LOCK_PATIENCE_MS = 10_000;
const POLL_MS = 50;

/**
 * Starts or attaches; the server listens on loopback only. Throws an error that says what to do when the port is taken, the disk is full,
 * the directory holds no complete cluster, another server holds it, or the binaries don't run here.
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

  const deadline = Date.now() + LOCK_PATIENCE_MS;
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
    const mayPass = launched.failure === 'locked' || (launched.failure === 'port taken' && port === undefined);
    if (!mayPass || Date.now() > deadline) throw startError(launched, dataDir);
    await delay(POLL_MS);
  }
}

/** Whether what listens on the port is the server of this directory, left running by an earlier process: starting would attach to it. */
export async function isLeftRunning({ dataDir, port }: { readonly dataDir: string; readonly port: number }): Promise<boolean> {
  const running = await findRunning(await toReachable(resolve(dataDir)));
  return running?.port === port;
}

/** The directory, or one in the system's temporary place when the server's user could not enter it. */
async function toReachable(dataDir: string): Promise<string> {
  if (!serverUser || (await makeParent(dataDir))) return dataDir;
  const elsewhere = join(tmpdir(), `trestle-data-${hashOf(dataDir)}`);
  await isOurs(elsewhere);
  if (await makeParent(elsewhere)) return elsewhere;
  throw new Error(`The user of the database server (uid ${String(serverUser.uid)}) can enter neither ${dirname(dataDir)} nor ${tmpdir()}`);
}

/** Whether the server's user can get to where the cluster stands. Opens only folders that it makes itself. */
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
  readonly failure: 'disk full' | 'locked' | 'port taken' | 'other';
  readonly port: number;
  readonly log: string;
}

/** After a crash one call that syncs the file system, in place of one for each of thousands of files: a tenth of a second, not several. */
const RECOVERY = process.platform === 'linux' ? ['-c', 'recovery_init_sync_method=syncfs'] : [];

/** Resolves when the server is ready, or has ended instead. */
function launch(binaries: string, { dataDir, port, flags, onLog }: Launch): Promise<{ pid: number; port: number } | Failure> {
  return new Promise((settle) => {
    const args = ['-D', dataDir, '-p', String(port), '-h', '127.0.0.1', '-k', '', '-c', 'log_checkpoints=off', ...RECOVERY, ...flags];
    // Its own process group: Ctrl-C in a terminal must reach us alone, so that PostgreSQL ends last.
    const options = { ...serverUser, cwd: dataDir, detached: true };
    const child = spawn(join(binaries, 'bin', 'postgres'), args, { ...options, stdio: ['ignore', 'ignore', 'pipe'] });
    let log = '';
    let ready = false;
    child.stderr.on('data', (chunk: Buffer) => {
      onLog?.(chunk.toString());
      log = (log + chunk.toString()).slice(-8192);
      if (ready || child.pid === undefined || !log.includes('ready to accept connections')) return;
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
  // The lock file is the first thing that a server writes, and so the first that a full disk refuses.
  if (isDiskFull(log)) return 'disk full';
  if (log.includes('lock file "postmaster.pid"')) return 'locked';
  return log.includes('could not bind') ? 'port taken' : 'other';
}

function startError({ failure, port, log }: Failure, dataDir: string): Error {
  if (failure === 'disk full') return toDiskFullError(dataDir, new Error(log));
  if (failure === 'port taken')
    return new Error(`Port ${String(port)} is taken, so PostgreSQL can't listen on it: set PG_PORT to a free one`);
  if (failure === 'locked') return new Error(`Another PostgreSQL holds ${dataDir} and does not answer:\n${log}`);
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
