/** The server process of a cluster: finds it by `postmaster.pid`, makes sure that it is one, and ends it. */
import { spawnSync } from 'node:child_process';
import { readFile, readdir, readlink, realpath, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

export interface Postmaster {
  readonly pid: number;
  readonly port: number;
}

const POLL_MS = 50;
/** A server that has not ended by then is told to drop everything; the next start recovers from its journal. */
const STOP_PATIENCE_MS = 3000;
const EXIT_PATIENCE_MS = 1000;
const EXIT_POLL_MS = 10;

/** Reads the first lines of `postmaster.pid`: process id, data directory, start time, port. It may be left over from a server that was killed. */
export async function readPostmaster(dataDir: string): Promise<Postmaster | undefined> {
  const text = await readFile(join(dataDir, 'postmaster.pid'), 'utf8').catch(() => '');
  const lines = text.split('\n');
  const [pid, port] = [Number(lines[0]), Number(lines[3])];
  return pid > 0 && port > 0 ? { pid, port } : undefined;
}

/** Returns the running server of this directory; undefined when there is none, also when its process id belongs to another program by now. */
export async function findRunning(dataDir: string): Promise<Postmaster | undefined> {
  const named = await readPostmaster(dataDir);
  return named && (await isServerOf(named.pid, dataDir)) ? named : undefined;
}

/**
 * Moves `postmaster.pid` to `postmaster.pid.stale` when the process that it names is another program, for which PostgreSQL would
 * refuse to start. Leaves it where any process still works in the directory, and returns whether it was moved.
 */
export async function setAsideForeignLock(dataDir: string): Promise<boolean> {
  const named = await readPostmaster(dataDir);
  if (!named || !signal(named.pid, 0) || (await isServerOf(named.pid, dataDir)) || (await hasProcessIn(dataDir))) return false;
  const lock = join(dataDir, 'postmaster.pid');
  await rename(lock, `${lock}.stale`);
  return true;
}

/** A server and all of its processes work in the data directory; a program that got the process id of a dead server does not. */
async function isServerOf(pid: number, dataDir: string): Promise<boolean> {
  if (!signal(pid, 0)) return false;
  if (process.platform === 'linux') return worksIn(pid, await realpath(dataDir));
  const { stdout } = spawnSync('ps', ['-p', String(pid), '-o', 'args='], { encoding: 'utf8' });
  return stdout.includes('postgres') && stdout.includes(dataDir);
}

async function hasProcessIn(dataDir: string): Promise<boolean> {
  // Elsewhere it can't be told: PostgreSQL's own check of its shared memory has to do.
  if (process.platform !== 'linux') return false;
  const directory = await realpath(dataDir);
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(pids.map((pid) => worksIn(Number(pid), directory)));
  return found.includes(true);
}

/** Whether a process of PostgreSQL works in the directory. Where that may not be read, as in containers, every PostgreSQL counts. */
async function worksIn(pid: number, directory: string): Promise<boolean> {
  const process = `/proc/${String(pid)}`;
  // Empty for a process that has ended and was not reaped yet.
  const command = await readFile(`${process}/cmdline`, 'utf8').catch(() => '');
  const [program = ''] = command.split('\0');
  if (!/(?:^|\/)postgres(?:$|:)/.test(program)) return false;
  const place = await readlink(`${process}/cwd`).catch(() => undefined);
  return place === undefined || place === directory;
}

/** Returns how to watch and end the server with this process id. */
export function ownServer(dataDir: string, pid: number): { isRunning(): Promise<boolean>; stop(): Promise<void> } {
  // An exit in disorder must not leave the server behind; only a kill does, and then the next start attaches.
  const end = () => signal(pid, 'SIGINT');
  process.once('exit', end);
  // A server that ends removes its `postmaster.pid`: that is seen also for one that is not our child, or that nobody reaps.
  const isRunning = async () => (await findRunning(dataDir))?.pid === pid;
  const stop = async () => {
    process.off('exit', end);
    if (await isRunning()) signal(pid, 'SIGINT');
    const patience = Date.now() + STOP_PATIENCE_MS;
    let urged = false;
    while (await isRunning()) {
      if (!urged && Date.now() > patience) urged = signal(pid, 'SIGQUIT');
      await delay(POLL_MS);
    }
    // It removes its lock file some moments before its process ends.
    const endsBy = Date.now() + EXIT_PATIENCE_MS;
    while (signal(pid, 0) && Date.now() < endsBy) await delay(EXIT_POLL_MS);
  };
  return { isRunning, stop };
}

/** Returns whether there was such a process that this user may signal. */
function signal(pid: number, name: 'SIGINT' | 'SIGQUIT' | 0): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}
