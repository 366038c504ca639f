/** Starts a private PostgreSQL from the binaries of npm, or attaches to one that an earlier process left running. */
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { findBinaries, hashOf, isOurs, serverUser } from './binaries.ts';

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
/** A server that has not ended by then is told to drop everything; the next start recovers from its journal. */
const STOP_PATIENCE_MS = 3000;

/** Starts or attaches; the server listens on loopback only. Throws when the port is taken or the binaries don't run here. */
export async function startEmbeddedPostgres({
  dataDir: wanted,
  port,
  flags = [],
  onLog,
}: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const binaries = await findBinaries();
  const dataDir = await toReachable(resolve(wanted));
  if (!existsSync(join(dataDir, 'PG_VERSION'))) await createCluster(binaries, dataDir);
  const password = (await readFile(join(dataDir, PASSWORD_FILE), 'utf8')).trim();
  const urlAt = (at: number) => (database: string) => `postgresql://postgres:${password}@127.0.0.1:${String(at)}/${database}`;

  const deadline = Date.now() + LOCK_PATIENCE_MS;
  for (;;) {
    const running = await readPostmaster(dataDir);
    if (running && (await answers(urlAt(running.port)('postgres')))) {
      return { url: urlAt(running.port), port: running.port, dataDir, attached: true, ...own(dataDir, running.pid) };
    }
    const launched = await launch(binaries, { dataDir, port: port ?? (await findFreePort()), flags, onLog });
    if ('pid' in launched) {
      return { url: urlAt(launched.port), port: launched.port, dataDir, attached: false, ...own(dataDir, launched.pid) };
    }
    const mayPass = launched.failure === 'locked' || (launched.failure === 'port taken' && port === undefined);
    if (!mayPass || Date.now() > deadline) throw startError(launched, dataDir);
    await delay(POLL_MS);
  }
}

/** Whether what listens on the port is the server of this directory, left running by an earlier process: starting would attach to it. */
export async function isLeftRunning({ dataDir, port }: { readonly dataDir: string; readonly port: number }): Promise<boolean> {
  const running = await readPostmaster(await toReachable(resolve(dataDir)));
  return running?.port === port && signal(running.pid, 0);
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

const PASSWORD_FILE = 'superuser-password';

/** Makes the cluster with a password of its own. It appears whole: initdb works on a draft beside it. */
async function createCluster(binaries: string, dataDir: string): Promise<void> {
  await mkdir(dirname(dataDir), { recursive: true });
  const draft = await mkdtemp(join(dirname(dataDir), `.${basename(dataDir)}.`));
  const cluster = join(draft, 'cluster');
  const passwordFile = join(draft, PASSWORD_FILE);
  try {
    await writeFile(passwordFile, randomBytes(24).toString('hex'), { mode: 0o600 });
    for (const path of serverUser ? [draft, passwordFile] : []) await chown(path, serverUser?.uid ?? -1, serverUser?.gid ?? -1);
    const { status, stderr, error } = spawnSync(join(binaries, 'bin', 'initdb'), initdbArguments(cluster, passwordFile), {
      ...serverUser,
      cwd: draft,
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`The database could not be made in ${dataDir}: ${stderr || String(error)}`);
    await rename(passwordFile, join(cluster, PASSWORD_FILE));
    await rename(cluster, dataDir).catch((cause: unknown) => {
      // Somebody else who started at the same time was faster.
      if (!existsSync(join(dataDir, 'PG_VERSION'))) throw new Error(`${dataDir} is in the way of the database: empty it`, { cause });
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** Sorts by code point and knows the cases of all letters, alike on every system. */
function initdbArguments(cluster: string, passwordFile: string): string[] {
  const locale = ['--encoding=UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C'];
  return ['-D', cluster, '-U', 'postgres', '--auth=scram-sha-256', `--pwfile=${passwordFile}`, ...locale, '--no-instructions'];
}

/** The first lines of `postmaster.pid`: process id, data directory, start time, port. */
async function readPostmaster(dataDir: string): Promise<{ pid: number; port: number } | undefined> {
  const text = await readFile(join(dataDir, 'postmaster.pid'), 'utf8').catch(() => '');
  const lines = text.split('\n');
  const [pid, port] = [Number(lines[0]), Number(lines[3])];
  return pid > 0 && port > 0 ? { pid, port } : undefined;
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
  readonly failure: 'locked' | 'port taken' | 'other';
  readonly port: number;
  readonly log: string;
}

/** Resolves when the server is ready, or has ended instead. */
function launch(binaries: string, { dataDir, port, flags, onLog }: Launch): Promise<{ pid: number; port: number } | Failure> {
  return new Promise((settle) => {
    const args = ['-D', dataDir, '-p', String(port), '-h', '127.0.0.1', '-k', '', '-c', 'log_checkpoints=off', ...flags];
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
      const failure = log.includes('lock file "postmaster.pid"') ? 'locked' : log.includes('could not bind') ? 'port taken' : 'other';
      settle({ failure, port, log });
    });
  });
}

function startError({ failure, port, log }: Failure, dataDir: string): Error {
  if (failure === 'port taken')
    return new Error(`Port ${String(port)} is taken, so PostgreSQL can't listen on it: set PG_PORT to a free one`);
  if (failure === 'locked') return new Error(`Another PostgreSQL holds ${dataDir} and does not answer:\n${log}`);
  return new Error(`PostgreSQL did not start:\n${log}`);
}

function own(dataDir: string, pid: number): Pick<EmbeddedPostgres, 'isRunning' | 'stop'> {
  // An exit in disorder must not leave the server behind; only a kill does, and then the next start attaches.
  const end = () => signal(pid, 'SIGINT');
  process.once('exit', end);
  // A server that ends removes its `postmaster.pid`: that is seen also for one that is not our child, or that nobody reaps.
  const isRunning = async () => (await readPostmaster(dataDir))?.pid === pid && signal(pid, 0);
  const stop = async () => {
    process.off('exit', end);
    if (await isRunning()) signal(pid, 'SIGINT');
    const patience = Date.now() + STOP_PATIENCE_MS;
    let urged = false;
    while (await isRunning()) {
      if (!urged && Date.now() > patience) urged = signal(pid, 'SIGQUIT');
      await delay(POLL_MS);
    }
  };
  return { isRunning, stop };
}

/** Whether there was such a process. */
function signal(pid: number, name: 'SIGINT' | 'SIGQUIT' | 0): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
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
