import { spawn } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded.ts';

const FLAGS = ['-c', 'fsync=off'];

async function query(url: string, sql: string): Promise<unknown[][]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<unknown[]>({ text: sql, rowMode: 'array' });
    return rows;
  } finally {
    await client.end();
  }
}

describe('the embedded PostgreSQL', () => {
  let home: string;
  let servers: EmbeddedPostgres[];
  const start = async (options: Partial<Parameters<typeof startEmbeddedPostgres>[0]> = {}) => {
    const server = await startEmbeddedPostgres({ dataDir: join(home, 'pg'), flags: FLAGS, ...options });
    servers.push(server);
    return server;
  };

  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'trestle-embedded-'));
    // Only the owner can access what mkdtemp creates; a server that a root process starts runs as nobody.
    await chmod(home, 0o755);
  });
  beforeEach(() => {
    servers = [];
  });
  afterEach(async () => {
    for (const server of servers) await server.stop();
  });
  afterAll(() => rm(home, { recursive: true, force: true }));

  it('keeps data when it is stopped and started again', async () => {
    const first = await start();
    expect(first.attached).toBe(false);
    await query(first.url('postgres'), 'CREATE TABLE kept AS SELECT 42 AS answer');
    await first.stop();
    const second = await start();
    expect(second.attached).toBe(false);
    expect(await query(second.url('postgres'), 'SELECT answer FROM kept')).toEqual([[42]]);
  });

  it('listens on the loopback interface only, requires the password, and maps the case of all letters', async () => {
    const server = await start();
    expect(await query(server.url('postgres'), `SHOW listen_addresses`)).toEqual([['127.0.0.1']]);
    expect(await query(server.url('postgres'), `SELECT lower('ÉŁÖ')`)).toEqual([['éłö']]);
    await expect(query(`postgresql://postgres:wrong@127.0.0.1:${String(server.port)}/postgres`, 'SELECT 1')).rejects.toThrow(
      'password authentication failed',
    );
    expect((await stat(join(server.dataDir, 'superuser-password'))).mode & 0o077).toBe(0);
  });

  it('reports the port that is in use and the setting to change', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as AddressInfo;
    try {
      await expect(start({ port })).rejects.toThrow(new RegExp(`Port ${String(port)} is already in use.*PG_PORT`));
    } finally {
      other.close();
    }
  });

  it('runs one server on one cluster when two processes start it at the same time', async () => {
    const both = await Promise.all([start({ dataDir: join(home, 'new') }), start({ dataDir: join(home, 'new') })]);
    expect(both.map(({ attached }) => attached).sort()).toEqual([false, true]);
    expect(both[0].port).toBe(both[1].port);
  });

  it('attaches to the server that a killed process left running, and stops it', async () => {
    const script = `import { startEmbeddedPostgres } from ${JSON.stringify(new URL('../dist/embedded.js', import.meta.url).href)};
      const server = await startEmbeddedPostgres({ dataDir: process.argv[1] });
      console.log(server.port);`;
    const owner = spawn(process.execPath, ['--input-type=module', '-e', script, join(home, 'pg')], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await owner.stdout.take(1).toArray()) as Buffer[];
    const ended = new Promise((resolve) => owner.once('exit', resolve));
    owner.kill('SIGKILL');
    await ended;

    const server = await start();
    expect(server.attached).toBe(true);
    expect(server.port).toBe(Number(String(line)));
    await server.stop();
    await expect(query(server.url('postgres'), 'SELECT 1')).rejects.toThrow('ECONNREFUSED');
  });

  it('recovers at the next start when the server itself was killed, once its children have ended', async () => {
    const first = await start();
    await query(first.url('postgres'), 'CREATE TABLE recovered AS SELECT 42 AS answer');
    const pid = (await readFile(join(first.dataDir, 'postmaster.pid'), 'utf8')).split('\n')[0] ?? '';
    // On a machine that does much else, a child may notice late that the server has ended. Other systems have no `/proc`.
    const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
    const child = Number(children.split(' ')[0]);
    if (child > 0) process.kill(child, 'SIGSTOP');
    process.kill(Number(pid), 'SIGKILL');
    const onLog = (text: string) => {
      if (text.includes('is still in use')) process.kill(child, 'SIGCONT');
    };
    const second = await start({ onLog });
    expect(second.attached).toBe(false);
    expect(await query(second.url('postgres'), 'SELECT answer FROM recovered')).toEqual([[42]]);
  });

  const asRoot = process.getuid?.() === 0 ? it : it.skip;
  asRoot(
    'uses the same accessible directory at each start when its user cannot access the configured one, and changes no permissions',
    async () => {
      const closed = join(home, 'closed');
      await mkdir(closed, { mode: 0o700 });
      const wanted = join(closed, 'deep', 'pg');
      const first = await start({ dataDir: wanted });
      expect(first.dataDir.startsWith(join(tmpdir(), 'trestle-data-'))).toBe(true);
      await query(first.url('postgres'), 'CREATE TABLE kept AS SELECT 42 AS answer');
      await first.stop();
      const second = await start({ dataDir: wanted });
      try {
        expect(await query(second.url('postgres'), 'SELECT answer FROM kept')).toEqual([[42]]);
        expect((await stat(closed)).mode & 0o777).toBe(0o700);
      } finally {
        await second.stop();
        await rm(second.dataDir, { recursive: true, force: true });
      }
    },
  );
});
