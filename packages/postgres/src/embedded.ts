/** Starts a private PostgreSQL from the binaries of npm, or attaches to one that an earlier process left running. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chown, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { findBinaries, serverUser } from './binaries.ts';

export interface EmbeddedPostgresOptions {
  /** Where the database cluster lives; made at the first start. */
  readonly dataDir: string;
  /** Any free port when absent. */
  readonly port?: number;
  readonly flags?: readonly string[];
}

export interface EmbeddedPostgres {
  /** A URL with the superuser's password; not for logs. */
  url(database: string): string;
  readonly port: number;
  /** Where the cluster really lives: elsewhere when the server's user can't reach the directory asked for. */
  readonly dataDir: string;
  /** Whether the server was running already. */
  readonly attached: boolean;
  /** Ends the server, also one that was attached to; open transactions are rolled back. */
  stop(): Promise<void>;
}

/** The lock of a server that was just killed stays until the system has reaped it. */
const LOCK_RETRIES = 20;
const LOCK_RETRY_MS = 500;
const STOP_POLL_MS = 20;

/** Starts or attaches; the server listens on loopback only. Throws when the port is taken or the binaries don't run here. */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const binaries = await findBinaries();
  const dataDir = reachable(resolve(options.dataDir));
  const password = await initialize(binaries, dataDir);
  const toUrl = (port: number) => (database: string) => `postgresql://postgres:${password}@127.0.0.1:${String(port)}/${database}`;

  const running = await readPostmaster(dataDir);
  if (running && (await answers(toUrl(running.port)('postgres')))) {
    return { url: toUrl(running.port), port: running.port, dataDir, attached: true, stop: () => stopProcess(running.pid) };
  }
  const port = options.port ?? (await findFreePort());
  const child = await launchPatiently(binaries, { dataDir, port, flags: options.flags ?? [] });
  return { url: toUrl(port), port, dataDir, attached: false, stop: () => stopChild(child) };
}

/** The directory, or one in the system's temporary place when the server's user could not enter it. */
function reachable(dataDir: string): string {
  if (serverUser.uid === undefined) return dataDir;
  let parent = dirname(dataDir);
  while (!existsSync(parent)) parent = dirname(parent);
  if (spawnSync('test', ['-x', parent], serverUser).status === 0) return dataDir;
  return join(tmpdir(), `trestle-data-${createHash('sha256').update(dataDir).digest('hex').slice(0, 16)}`, 'pg');
}

/** Makes the cluster unless it is there, and gives the superuser's password. It appears whole: initdb works on a draft. */
async function initialize(binaries: string, dataDir: string): Promise<string> {
  const passwordFile = `${dataDir}.password`;
  if (!existsSync(join(dataDir, 'PG_VERSION'))) {
    await mkdir(dirname(dataDir), { recursive: true });
    await writeFile(passwordFile, randomBytes(24).toString('hex'), { mode: 0o600 });
    const draft = `${dataDir}.draft`;
    await rm(draft, { recursive: true, force: true });
    await mkdir(draft, { mode: 0o700 });
    for (const path of [draft, passwordFile]) await giveToServer(path);
    const args = [
      '-D',
      draft,
      '-U',
      'postgres',
      '-A',
      'scram-sha-256',
      `--pwfile=${passwordFile}`,
      '-E',
      'UTF8',
      '--locale=C.UTF-8',
      '--no-instructions',
    ];
    const { status, stderr } = spawnSync(join(binaries, 'bin/initdb'), args, { ...serverUser, cwd: draft, encoding: 'utf8' });
    if (status !== 0) throw new Error(`initdb failed: ${stderr}`);
    await rename(draft, dataDir);
  }
  return (await readFile(passwordFile, 'utf8')).trim();
}

async function giveToServer(path: string): Promise<void> {
  if (serverUser.uid !== undefined && serverUser.gid !== undefined) await chown(path, serverUser.uid, serverUser.gid);
}

/** The first lines of `postmaster.pid`: process id, data directory, start time, port. */
async function readPostmaster(dataDir: string): Promise<{ pid: number; port: number } | undefined> {
  const lines = await readFile(join(dataDir, 'postmaster.pid'), 'utf8').then(
    (text) => text.split('\n'),
    () => [],
  );
  const [pid, port] = [Number(lines[0]), Number(lines[3])];
  return pid > 0 && port > 0 ? { pid, port } : undefined;
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2000 });
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
}

async function launchPatiently(binaries: string, launch: Launch): Promise<ChildProcess> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await start(binaries, launch);
    } catch (error) {
      const locked = error instanceof Error && error.message.includes('lock file "postmaster.pid"');
      if (!locked || attempt === LOCK_RETRIES) throw error;
      await delay(LOCK_RETRY_MS);
    }
  }
}

function start(binaries: string, { dataDir, port, flags }: Launch): Promise<ChildProcess> {
  return new Promise((resolve, reject) => {
    const args = ['-D', dataDir, '-p', String(port), '-h', '127.0.0.1', '-k', '', ...flags];
    // Its own process group: Ctrl-C in a terminal must reach us alone, so that PostgreSQL ends last.
    const child = spawn(join(binaries, 'bin/postgres'), args, {
      ...serverUser,
      cwd: dataDir,
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let log = '';
    child.stderr.on('data', (chunk: Buffer) => {
      log = (log + chunk.toString()).slice(-8192);
      if (log.includes('ready to accept connections')) resolve(child);
    });
    child.once('error', reject);
    child.once('exit', () => {
      const taken = log.includes('could not bind') || log.includes('Address already in use');
      reject(new Error(taken ? `Port ${String(port)} is taken: set PG_PORT to another` : `PostgreSQL did not start: ${log}`));
    });
  });
}

function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    child.once('exit', () => {
      resolve();
    });
    child.kill('SIGINT');
  });
}

async function stopProcess(pid: number): Promise<void> {
  try {
    process.kill(pid, 'SIGINT');
    for (;;) {
      process.kill(pid, 0);
      await delay(STOP_POLL_MS);
    }
  } catch {
    // No such process: it has ended.
  }
}

function findFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => {
        resolve(port);
      });
    });
  });
}
