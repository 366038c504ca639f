/** The server process of a cluster: finds it by `postmaster.pid`, verifies that it is a PostgreSQL server, and stops it. */
import { spawnSync } from 'node:child_process';
import { readFile, readdir, readlink, realpath, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** Identifies a running server. */
export interface Postmaster {
  readonly pid: number;
  readonly port: number;
}

const POLL_MS = 50;
/** A server that has not stopped after this time is stopped immediately; its next start recovers from the write-ahead log. */
const STOP_TIMEOUT_MS = 3000;
const EXIT_TIMEOUT_MS = 1000;
const EXIT_POLL_MS = 10;

/** Returns process id and port from `postmaster.pid` (lines 1 and 4), or undefined when the file is missing. A killed server leaves the file behind. */
export async function readPostmaster(dataDir: string): Promise<Postmaster | undefined> {
  const text = await readFile(join(dataDir, 'postmaster.pid'), 'utf8').catch(() => '');
  const lines = text.split('\n');
  const [pid, port] = [Number(lines[0]), Number(lines[3])];
  return pid > 0 && port > 0 ? { pid, port } : undefined;
}

/** Returns the running server of this directory, or undefined when none runs, also when its process id now belongs to another program. */
export async function findRunning(dataDir: string): Promise<Postmaster | undefined> {
  const named = await readPostmaster(dataDir);
  return named && (await isServerOf(named.pid, dataDir)) ? named : undefined;
}

/**
 * Renames `postmaster.pid` to `postmaster.pid.stale` when its process id belongs to another program, because PostgreSQL would refuse to
 * start. Keeps the file while any process of PostgreSQL uses the directory. Returns whether the file was renamed.
 */
export async function setAsideForeignLock(dataDir: string): Promise<boolean> {
  const named = await readPostmaster(dataDir);
  if (!named || !signal(named.pid, 0) || (await isServerOf(named.pid, dataDir)) || (await hasProcessIn(dataDir))) return false;
  const lock = join(dataDir, 'postmaster.pid');
  await rename(lock, `${lock}.stale`);
  return true;
}

/** Returns whether the process is a server of the directory: its working directory is the data directory. */
async function isServerOf(pid: number, dataDir: string): Promise<boolean> {
  if (!signal(pid, 0)) return false;
  if (process.platform === 'linux') return worksIn(pid, await realpath(dataDir));
  const { stdout } = spawnSync('ps', ['-p', String(pid), '-o', 'args='], { encoding: 'utf8' });
  return stdout.includes('postgres') && stdout.includes(dataDir);
}

async function hasProcessIn(dataDir: string): Promise<boolean> {
  // Other systems do not show it; PostgreSQL's own check of its shared memory remains.
  if (process.platform !== 'linux') return false;
  const directory = await realpath(dataDir);
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(pids.map((pid) => worksIn(Number(pid), directory)));
  return found.includes(true);
}

/** Returns whether the process is a PostgreSQL process of the directory. When its directory cannot be read, as in containers, any PostgreSQL process counts. */
async function worksIn(pid: number, directory: string): Promise<boolean> {
  const process = `/proc/${String(pid)}`;
  // Empty for a process that has ended and is not reaped yet.
  const command = await readFile(`${process}/cmdline`, 'utf8').catch(() => '');
  const [program = ''] = command.split('\0');
  if (!/(?:^|\/)postgres(?:$|:)/.test(program)) return false;
  const place = await readlink(`${process}/cwd`).catch(() => undefined);
  return place === undefined || place === directory;
}

/** Returns functions that check and stop the server with this process id. Also stops the server when this process exits. */
export function ownServer(dataDir: string, pid: number): { isRunning(): Promise<boolean>; stop(): Promise<void> } {
  // Only a killed process leaves the server running; the next start attaches to it.
  const interrupt = () => signal(pid, 'SIGINT');
  process.once('exit', interrupt);
  // A server that stops removes its `postmaster.pid`. This also works for a server that is not a child of this process or is not reaped.
  const isRunning = async () => (await findRunning(dataDir))?.pid === pid;
  const stop = async () => {
    process.off('exit', interrupt);
    if (await isRunning()) signal(pid, 'SIGINT');
    const stopDeadline = Date.now() + STOP_TIMEOUT_MS;
    let isForced = false;
    while (await isRunning()) {
      if (!isForced && Date.now() > stopDeadline) isForced = signal(pid, 'SIGQUIT');
      await delay(POLL_MS);
    }
    // The process ends shortly after it has removed its lock file.
    const exitDeadline = Date.now() + EXIT_TIMEOUT_MS;
    while (signal(pid, 0) && Date.now() < exitDeadline) await delay(EXIT_POLL_MS);
  };
  return { isRunning, stop };
}

/** Sends a signal, and returns whether the process exists and this user may signal it. Signal 0 only checks. */
function signal(pid: number, name: 'SIGINT' | 'SIGQUIT' | 0): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}
