/** Starts with damaged data directories: the message helps to recover, and no data is lost. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, readdir, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { serverUser } from './binaries.ts';
import { isDiskFull } from './disk-full.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded.ts';

let home: string;
let dataDir: string;
let server: EmbeddedPostgres | undefined;
const start = async (place = dataDir) => (server = await startEmbeddedPostgres({ dataDir: place, flags: ['-c', 'fsync=off'] }));
const stop = async () => {
  await server?.stop();
  server = undefined;
};
const query = async (sql: string) => {
  const client = new pg.Client({ connectionString: server?.url('postgres') });
  await client.connect();
  try {
    return (await client.query<unknown[]>({ text: sql, rowMode: 'array' })).rows;
  } finally {
    await client.end();
  }
};
const messageOf = (task: Promise<unknown>) =>
  task.then(
    () => 'it started',
    (error: unknown) => (error as Error).message,
  );

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'trestle-faults-'));
  await chmod(home, 0o755);
  dataDir = join(home, 'pg');
  await start();
  await query('CREATE TABLE kept AS SELECT 42 AS answer');
  await stop();
});
afterEach(stop);
afterAll(() => rm(home, { recursive: true, force: true }));

describe('startEmbeddedPostgres', () => {
  it('names PG_VERSION and its content when the file is missing, changes nothing, and starts after it is restored', async () => {
    const file = join(dataDir, 'PG_VERSION');
    const before = (await readdir(dataDir)).length;
    await rename(file, join(home, 'PG_VERSION'));
    const message = await messageOf(start());
    expect(message).toContain('contains a PostgreSQL database, but its file PG_VERSION is missing; the data was not changed');
    expect(message).not.toMatch(/empty it|delete|remove|erase/i);
    expect(await readdir(dataDir)).toHaveLength(before - 1);
    const [, command = ''] = /\((echo \d+ > [^)]+)\)/.exec(message) ?? [];
    execFileSync('sh', ['-c', command], serverUser);
    await start();
    expect(await query('SELECT answer FROM kept')).toEqual([[42]]);
  });

  it('lists the files of a directory that is not a database, and keeps them', async () => {
    const other = join(home, 'other');
    await mkdir(other);
    await writeFile(join(other, 'thesis.txt'), 'years of work');
    expect(await messageOf(start(other))).toMatch(
      /contains 1 files or folders \(thesis\.txt\) that are not a PostgreSQL database\. Move them/,
    );
    expect(await readFile(join(other, 'thesis.txt'), 'utf8')).toBe('years of work');
  });

  it('reports how to set a new password when the password file is missing', async () => {
    const file = join(dataDir, 'superuser-password');
    await rename(file, join(home, 'aside'));
    const message = await messageOf(start());
    await rename(join(home, 'aside'), file);
    expect(message).toMatch(/superuser-password is missing: .*Restore it from a backup.*ALTER ROLE/);
  });

  it('starts when the process id in postmaster.pid belongs to another program, and does not signal that program', async () => {
    const stranger: ChildProcess = spawn('sleep', ['60'], serverUser ?? {});
    const lines = [String(stranger.pid), dataDir, '1700000000', '1', '', '127.0.0.1', '  1  1', 'ready'];
    await writeFile(join(dataDir, 'postmaster.pid'), `${lines.join('\n')}\n`);
    try {
      await start();
      expect(await query('SELECT answer FROM kept')).toEqual([[42]]);
      await stop();
      expect(stranger.exitCode ?? stranger.signalCode).toBeNull();
      expect(await readFile(join(dataDir, 'postmaster.pid.stale'), 'utf8')).toContain(String(stranger.pid));
    } finally {
      stranger.kill();
    }
  });

  it('removes the drafts of killed processes, and keeps those of running ones', async () => {
    const gone = spawn('true');
    await new Promise((resolve) => gone.once('exit', resolve));
    const names = {
      gone: `.pg.${String(gone.pid)}.abcdef`,
      running: `.pg.${String(process.pid)}.abcdef`,
      old: '.pg.uvwxyz',
      new: '.pg.stuvwx',
    };
    for (const name of Object.values(names)) await mkdir(join(home, name, 'cluster'), { recursive: true });
    await utimes(join(home, names.old), 0, 0);
    await start();
    const drafts = (await readdir(home)).filter((name) => name.startsWith('.pg.'));
    expect(drafts.sort()).toEqual([names.running, names.new].sort());
    for (const name of drafts) await rm(join(home, name), { recursive: true });
  });
});

/** Only root may mount a file system that is small enough to be filled. */
const canMount = process.platform === 'linux' && process.getuid?.() === 0 && tryMount();
const withSmallDisk = canMount ? describe : describe.skip;

withSmallDisk('startEmbeddedPostgres on a full disk', () => {
  const mount = async (size: string) => {
    const place = await mkdtemp(join(tmpdir(), 'trestle-small-disk-'));
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=755`, 'tmpfs', place]);
    return place;
  };
  const unmount = async (place: string) => {
    execFileSync('umount', [place]);
    await rm(place, { recursive: true });
  };

  it('reports the full disk when the database cannot be created, and removes its draft', async () => {
    const place = await mount('8m');
    try {
      expect(await messageOf(start(join(place, 'pg')))).toMatch(/^The disk that holds .* is full\. Free some space/);
      expect(await readdir(place)).toEqual([]);
    } finally {
      await unmount(place);
    }
  });

  it('reports the full disk, not another server, when PostgreSQL cannot write its lock file', async () => {
    const place = await mount('120m');
    try {
      await start(join(place, 'pg'));
      await stop();
      await writeFile(join(place, 'ballast'), Buffer.alloc(120 * 1024 * 1024)).catch(() => undefined);
      const message = await messageOf(start(join(place, 'pg')));
      expect(message).toMatch(/^The disk that holds .* is full\. Free some space/);
      expect(message).not.toContain('Another PostgreSQL');
      await rm(join(place, 'ballast'));
      await start(join(place, 'pg'));
      await stop();
    } finally {
      await unmount(place);
    }
  });
});

describe('isDiskFull', () => {
  it('recognizes a full disk in errors of Node.js and PostgreSQL, in their causes and in the output of programs', () => {
    const node = Object.assign(new Error('write failed'), { code: 'ENOSPC' });
    const sql = Object.assign(new Error('could not extend file'), { code: '53100' });
    const failures = [node, sql, new Error('outer', { cause: node }), 'could not write lock file: No space left on device'];
    expect(failures.map(isDiskFull)).toEqual([true, true, true, true]);
    expect([new Error('other'), 'other', undefined].map(isDiskFull)).toEqual([false, false, false]);
  });
});

function tryMount(): boolean {
  try {
    execFileSync('unshare', ['-m', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
