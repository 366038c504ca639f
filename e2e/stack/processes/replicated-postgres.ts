/**
 * A PostgreSQL primary and a standby that receives its write-ahead log by streaming, with synchronous replication: a commit is acknowledged
 * when the standby has it on disk. Clients reach the primary through one address, as through HAProxy or a virtual address, which leads to
 * the standby once that is promoted.
 */
import { chmod, chown, cp, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative, sep } from 'node:path';
import { serverUser } from '@trestle/postgres/binaries';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@trestle/postgres/embedded';
import pg from 'pg';
import { until } from '../clients/client.ts';
import { startTcpSwitch } from './tcp-switch.ts';

export interface ReplicatedPostgres {
  /** The URL of the database `postgres` of whichever server is the primary. */
  readonly adminUrl: string;
  /** Ends the primary at once, as the loss of its machine does. Its address leads nowhere then. */
  killPrimary(): Promise<void>;
  /** Makes the standby the primary, and has the address lead to it. */
  promote(): Promise<void>;
  stop(): Promise<void>;
}

/** The tests end no machine, so nothing needs to reach the disk itself. */
const FLAGS = ['-c', 'fsync=off', '-c', 'max_connections=200'];
const SLOT = 'standby';
/** Files of the running primary that must not be in a copy (PostgreSQL documentation, "Low Level Base Backup"), but for their folders. */
const EXCLUDED = ['pg_wal', 'pg_replslot', 'pg_dynshmem', 'pg_notify', 'pg_serial', 'pg_snapshots', 'pg_stat_tmp', 'pg_subtrans'];

/** Starts both servers, and resolves when the standby is synchronous. */
export async function startReplicatedPostgres(): Promise<ReplicatedPostgres> {
  const home = await mkdtemp(join(tmpdir(), 'trestle-replicated-'));
  // Only the owner can access what mkdtemp creates; servers that a root process starts run as another user.
  await chmod(home, 0o711);
  const primary = await startEmbeddedPostgres({ dataDir: join(home, 'primary', 'data'), flags: FLAGS });
  const standby = await startStandby(primary, join(home, 'standby', 'data'));
  await query(primary, `ALTER SYSTEM SET synchronous_standby_names = '*'`);
  await query(primary, 'SELECT pg_reload_conf()');
  await until(async () => (await query(primary, `SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'`)).length === 1);
  const address = await startTcpSwitch(primary.port);
  const adminUrl = new URL(primary.url('postgres'));
  adminUrl.port = String(address.port);
  return {
    adminUrl: adminUrl.href,
    async killPrimary() {
      const [line] = (await readFile(join(primary.dataDir, 'postmaster.pid'), 'utf8')).split('\n');
      await killTogether(Number(line));
      await until(async () => !(await primary.isRunning()));
    },
    async promote() {
      await query(standby, 'SELECT pg_promote()');
      address.leadTo(standby.port);
    },
    async stop() {
      await address.stop();
      await Promise.all([primary.stop(), standby.stop()]);
      await rm(home, { recursive: true, force: true });
    },
  };
}

/** Copies the running primary, as `pg_basebackup` does, which npm's binaries do not have, and starts the copy as a standby. */
async function startStandby(primary: EmbeddedPostgres, dataDir: string): Promise<EmbeddedPostgres> {
  await query(primary, `SELECT pg_create_physical_replication_slot('${SLOT}', true)`);
  const session = new pg.Client({ connectionString: primary.url('postgres') });
  await session.connect();
  try {
    await session.query(`SELECT pg_backup_start('standby', true)`);
    await mkdir(dirname(dataDir), { recursive: true });
    await cp(primary.dataDir, dataDir, { recursive: true, filter: (path) => isCopied(relative(primary.dataDir, path)) });
    const { rows } = await session.query<{ label: string }>('SELECT labelfile AS label FROM pg_backup_stop(false)');
    await writeFile(join(dataDir, 'backup_label'), rows[0]?.label ?? '');
  } finally {
    await session.end();
  }
  const { port, password } = new URL(primary.url('postgres'));
  const source = `host=127.0.0.1 port=${port} user=postgres password=${password} application_name=standby`;
  await writeFile(join(dataDir, 'postgresql.auto.conf'), `primary_conninfo = '${source}'\nprimary_slot_name = '${SLOT}'\n`);
  await writeFile(join(dataDir, 'standby.signal'), '');
  await handOver(dataDir);
  return startEmbeddedPostgres({ dataDir, flags: FLAGS });
}

function isCopied(path: string): boolean {
  const [folder = '', ...rest] = path.split(sep);
  const isExcluded = EXCLUDED.includes(folder) && rest.length > 0;
  return !isExcluded && !/^(?:postmaster\.(?:pid|opts)|pgsql_tmp.*|pg_internal\.init.*)$/.test(basename(path));
}

/** A server that a root process starts runs as another user, who must own its files. */
async function handOver(path: string): Promise<void> {
  if (!serverUser) return;
  await chown(path, serverUser.uid, serverUser.gid);
  for (const entry of await readdir(path, { withFileTypes: true, recursive: true }))
    await chown(join(entry.parentPath, entry.name), serverUser.uid, serverUser.gid);
}

async function query(server: EmbeddedPostgres, text: string): Promise<object[]> {
  const client = new pg.Client({ connectionString: server.url('postgres') });
  await client.connect();
  try {
    return (await client.query<object>(text)).rows;
  } finally {
    await client.end();
  }
}

/**
 * Ends the server and its children at one moment, as the loss of a machine does: they are stopped before the first is killed. Otherwise a child that
 * outlives the server ends its wait for the standby and commits, and another one may show clients what the standby never received.
 */
export async function killTogether(server: number): Promise<void> {
  signal(server, 'SIGSTOP');
  // A server that is stopped starts no more of them.
  const children = await findChildren(server);
  for (const child of children) signal(child, 'SIGSTOP');
  for (const each of [...children, server]) signal(each, 'SIGKILL');
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended meanwhile.
  }
}

/** Of the server, which lists them in `/proc`; elsewhere they end by themselves when they notice the end of their parent. */
async function findChildren(parent: number): Promise<number[]> {
  const text = await readFile(`/proc/${String(parent)}/task/${String(parent)}/children`, 'utf8').catch(() => '');
  return text.split(' ').filter(Boolean).map(Number);
}
