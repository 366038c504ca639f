/** A PostgreSQL server that is stopped for some seconds and continues: the responses meanwhile, and what is carried out afterwards (spec §7.3, §8). */
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@trestle/postgres/embedded';
import { type Account, type Stack, startStack } from '../../stack/stack.ts';

let home: string;
let server: EmbeddedPostgres;
let stack: Stack;
let ada: Account;
/** Of processes of the server that are stopped. */
let stopped: number[] = [];

const ROUNDS = 30;
const LIMITS = {
  // One for a write, one for reads.
  DATABASE_CONNECTIONS: '2',
  DATABASE_CONNECT_TIMEOUT_MS: '700',
  DATABASE_STATEMENT_TIMEOUT_MS: '1000',
  MUTATION_TIMEOUT_MS: '2500',
};
const BACKENDS = `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()`;
const CREATED = `SELECT id FROM posts WHERE title LIKE 'Late%'`;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'trestle-stopped-'));
  // A server that a root process starts runs as another user.
  await chmod(home, 0o755);
  server = await startEmbeddedPostgres({ dataDir: join(home, 'pg'), flags: ['-c', 'fsync=off'] });
  stack = await startStack({ env: LIMITS, adminUrl: server.url('postgres') });
  ada = await stack.createAccount('Ada');
});
afterAll(async () => {
  signal('SIGCONT');
  await stack.stop();
  await server.stop();
  await rm(home, { recursive: true, force: true });
});

function signal(name: 'SIGSTOP' | 'SIGCONT'): void {
  for (const pid of stopped)
    try {
      process.kill(pid, name);
    } catch {
      // It has ended meanwhile.
    }
}

const rename = (name: string) => stack.call('PATCH', `/v1/users/${ada.id}`, { token: ada.token, body: { name } });
const write = (title: string, key?: string) =>
  stack.call('POST', '/v1/posts', {
    token: ada.token,
    body: { title },
    ...(key !== undefined && { headers: { 'idempotency-key': key } }),
  });
const readBoth = () => Promise.all([stack.call('GET', `/v1/users/${ada.id}`), stack.call('GET', '/v1/posts')]);

describe('requests while the database server is stopped', () => {
  it('get 503 or 504 in time, are not carried out afterwards, and succeed again when it continues', async () => {
    // Every connection of the pools is open, so that statements reach the sockets of the server.
    await Promise.all(Array.from({ length: 4 }, readBoth));
    const backends = await Promise.all((['users', 'content'] as const).map((name) => stack.sql<{ pid: number }>(name, BACKENDS)));
    const [postmaster] = (await readFile(join(server.dataDir, 'postmaster.pid'), 'utf8')).split('\n');
    stopped = [Number(postmaster), ...backends.flat().map(({ pid }) => pid)];
    signal('SIGSTOP');

    const began = performance.now();
    const [written, read] = await Promise.all([
      Promise.all([rename('Late'), write('Late'), write('Late, with a key', 'late-1')]),
      readBoth(),
    ]);
    const [again, readAgain] = await Promise.all([Promise.all([rename('Later'), write('Late again')]), readBoth()]);
    for (const { status, body } of [...written, ...read, ...again, ...readAgain])
      expect({ status, body }).toMatchObject(
        status === 503
          ? { body: { error: { code: 'SERVICE_UNAVAILABLE' } } }
          : { status: 504, body: { error: { code: 'UPSTREAM_TIMEOUT' } } },
      );
    // Less than twice SUBGRAPH_TIMEOUT_MS for two rounds.
    expect(performance.now() - began).toBeLessThan(20_000);
    expect((await fetch(`${stack.subgraphs.users.url}/readyz`)).status).toBe(503);

    signal('SIGCONT');
    let statuses: number[] = [];
    while (statuses.some((status) => status !== 200) || statuses.length === 0) statuses = (await readBoth()).map(({ status }) => status);
    // By the end of these requests the processes of the server have read what waited in their sockets while they were stopped.
    for (let round = 0; round < ROUNDS; round++) await readBoth();
    expect((await stack.call('GET', `/v1/users/${ada.id}`)).body).toMatchObject({ name: 'Ada' });
    expect(await stack.sql('content', CREATED)).toEqual([]);

    const repeated = await write('Late, with a key', 'late-1');
    expect(repeated.status).toBe(201);
    const { id } = repeated.body as { id: string };
    expect((await write('Late, with a key', 'late-1')).body).toMatchObject({ id });
    expect(await stack.sql('content', CREATED)).toEqual([{ id }]);
    expect((await rename('Ada again')).status).toBe(200);
    expect((await fetch(`${stack.subgraphs.users.url}/readyz`)).status).toBe(200);
  });
});
