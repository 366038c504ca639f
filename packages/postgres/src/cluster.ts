/** The data directory of a database cluster: creates it once, and reports what is wrong with one that PostgreSQL cannot use. */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chown, mkdir, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { serverUser } from './binaries.ts';
import { createDraft } from './drafts.ts';
import { isDiskFull, toDiskFullError } from './disk-full.ts';

const PASSWORD_FILE = 'superuser-password';

/**
 * Creates the cluster unless it exists, and returns the superuser's password.
 * Throws without changing anything when the directory contains other files or is incomplete; the message says how to recover.
 */
export async function ensureCluster(binaries: string, dataDir: string): Promise<string> {
  if (!existsSync(join(dataDir, 'PG_VERSION'))) {
    await requireEmpty(dataDir);
    await createCluster(binaries, dataDir);
  }
  const file = join(dataDir, PASSWORD_FILE);
  const password = (await readFile(file, 'utf8').catch(() => '')).trim();
  if (password !== '') return password;
  throw new Error(
    `${file} is ${existsSync(file) ? 'empty' : 'missing'}: it contains the password of PostgreSQL's superuser. Restore it from a backup of the directory. ` +
      "Without a backup, write a new password into it and set it with PostgreSQL's single-user mode, as the owner of the directory: " +
      `echo "ALTER ROLE postgres PASSWORD '<new password>'" | ${join(binaries, 'bin', 'postgres')} --single -D ${dataDir} postgres`,
  );
}

/** Throws unless the directory is missing or empty. */
async function requireEmpty(dataDir: string): Promise<void> {
  const found = await readdir(dataDir).catch((cause: unknown) => {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') return [];
    throw new Error(`${dataDir} cannot be used for the database: ${message}. Set DATA_DIR to another directory.`, { cause });
  });
  if (found.length === 0) return;
  const isCluster = existsSync(join(dataDir, 'global', 'pg_control'));
  if (!isCluster) {
    throw new Error(
      `${dataDir} contains ${String(found.length)} files or folders (${list(found)}) that are not a PostgreSQL database. ` +
        'Move them to another directory, or set DATA_DIR to another directory.',
    );
  }
  const version = await findVersion(dataDir);
  const content = version ?? 'the major version of the PostgreSQL that created it';
  const command = version === undefined ? '' : ` (echo ${version} > ${join(dataDir, 'PG_VERSION')})`;
  throw new Error(
    `${dataDir} contains a PostgreSQL database, but its file PG_VERSION is missing; the data was not changed. ` +
      `Make a copy of the directory. Then restore PG_VERSION from a backup, or write it again: it contains only one line, ${content}${command}. ` +
      'If other files are missing too, restore the whole directory from a backup.',
  );
}

/** Returns the version from a database of the cluster: each has a PG_VERSION of its own. */
async function findVersion(dataDir: string): Promise<string | undefined> {
  const databases = await readdir(join(dataDir, 'base')).catch(() => []);
  for (const database of databases) {
    const text = await readFile(join(dataDir, 'base', database, 'PG_VERSION'), 'utf8').catch(() => '');
    if (/^\d+\s*$/.test(text)) return text.trim();
  }
  return undefined;
}

function list(names: readonly string[]): string {
  const shown = names.toSorted().slice(0, 5).join(', ');
  return names.length > 5 ? `${shown}, …` : shown;
}

/** Creates the cluster with a generated password. It appears complete: initdb works in a draft, which is renamed. */
async function createCluster(binaries: string, dataDir: string): Promise<void> {
  await mkdir(dirname(dataDir), { recursive: true });
  let draft: string | undefined;
  try {
    draft = await createDraft(dataDir);
    const cluster = join(draft, 'cluster');
    const passwordFile = join(draft, PASSWORD_FILE);
    await writeFile(passwordFile, randomBytes(24).toString('hex'), { mode: 0o600 });
    for (const path of serverUser ? [draft, passwordFile] : []) await chown(path, serverUser?.uid ?? -1, serverUser?.gid ?? -1);
    const { status, stderr, error } = spawnSync(join(binaries, 'bin', 'initdb'), initdbArguments(cluster, passwordFile), {
      ...serverUser,
      cwd: draft,
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`The database could not be created in ${dataDir}: ${stderr || String(error)}`);
    await rename(passwordFile, join(cluster, PASSWORD_FILE));
    await rename(cluster, dataDir).catch((cause: unknown) => {
      // Another process may have created it in the meantime.
      if (!existsSync(join(dataDir, 'PG_VERSION'))) throw new Error(`The new database could not be moved to ${dataDir}`, { cause });
    });
  } catch (error) {
    throw isDiskFull(error) ? toDiskFullError(dataDir, error) : error;
  } finally {
    if (draft !== undefined) await rm(draft, { recursive: true, force: true });
  }
}

/** Returns the arguments of initdb. The locale sorts by code point and maps the case of all letters, on every system alike. */
function initdbArguments(cluster: string, passwordFile: string): string[] {
  const locale = ['--encoding=UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C'];
  return ['-D', cluster, '-U', 'postgres', '--auth=scram-sha-256', `--pwfile=${passwordFile}`, ...locale, '--no-instructions'];
}
