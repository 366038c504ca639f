/** Tests the supervision with real processes: small servers whose behaviour the environment sets. */
import { once } from 'node:events';
import { type Server, createServer } from 'node:http';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { reserveTestPort } from '@trestle/service/testing/test-port';
import { stopInOrder } from './stop-in-order.ts';
import { type SupervisedProcess, superviseProcess } from './supervised-process.ts';

const SERVER = `
  import { createServer } from 'node:http';
  if (process.env.FAIL) {
    console.log(JSON.stringify({ level: 'error', time: '2026-01-31T12:00:00Z', msg: process.env.FAIL }));
    process.exit(3);
  }
  createServer((request, response) => {
    if (request.url === '/readyz') response.end('{}');
    else response.end(String(process.pid));
  }).listen(Number(process.env.PORT), '127.0.0.1', () => {
    console.log('{"level":"info","msg":"listening"}');
    process.send('ready');
  });
  process.on('SIGTERM', () => { if (!process.env.STUBBORN) process.exit(0); });
  process.on('disconnect', () => process.exit(0));
`;

let home: string;
let said: string[];
const made: SupervisedProcess[] = [];

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'trestle-supervised-'));
  await writeFile(join(home, 'main.mjs'), SERVER);
  said = [];
});
afterEach(async () => {
  for (const process of made.splice(0)) {
    process.kill();
    await process.stop();
  }
  await rm(home, { recursive: true, force: true });
});

async function make(name: string, env: Record<string, string> = {}) {
  const port = await reserveTestPort();
  const plan = { name, args: [join(home, 'main.mjs')], port, env: { PORT: String(port), ...env } };
  const process = superviseProcess({ plan, logDirectory: home, say: (line) => said.push(line) });
  made.push(process);
  return { process, port, pid: () => fetch(`http://127.0.0.1:${String(port)}/`).then(async (reply) => Number(await reply.text())) };
}

describe('superviseProcess', () => {
  it('starts a process, resolves when it is ready, and writes its output to its log', async () => {
    const { process, pid } = await make('users');
    await process.start();
    expect(await pid()).toBeGreaterThan(0);
    await process.stop();
    await expect(pid()).rejects.toThrow();
    expect(await readFile(join(home, 'users.log'), 'utf8')).toContain('listening');
    expect(said).toEqual([]);
  });

  it('rejects the start with the last errors of a process that ends before it is ready', async () => {
    const { process } = await make('users', { FAIL: 'no key' });
    await expect(process.start()).rejects.toThrow('users did not start (code 3):\n  12:00:00 users error: no key');
  });

  it('restarts a process that ends unexpectedly, and prints one line for the end and one for the restart', async () => {
    const { process: supervised, pid } = await make('users');
    await supervised.start();
    const first = await pid();
    process.kill(first, 'SIGKILL');
    await until(() => said.includes('users is ready again'));
    expect(await pid()).not.toBe(first);
    expect(said).toEqual(['users ended unexpectedly (SIGKILL), restarting in 0.1 s', 'users is ready again']);
  });

  it('rejects the start when another program at its port answers', async () => {
    const { process, port } = await make('users');
    const other = await takePort(port);
    await expect(process.start()).rejects.toThrow(/^users did not start \(code 1\)/);
    await close(other);
  });

  it('waits for its port while another program has it, and names the port', async () => {
    const { process: supervised, port, pid } = await make('users');
    await supervised.start();
    const first = await pid();
    process.kill(first, 'SIGKILL');
    const other = await takePort(port);
    const waits = `users cannot start: port ${String(port)} is in use by another program. It starts when the port is free.`;
    await until(() => said.includes(waits));
    await close(other);
    await until(() => said.includes('users is ready again'));
    expect(await pid()).not.toBe(first);
    expect(said).toEqual(['users ended unexpectedly (SIGKILL), restarting in 0.1 s', waits, 'users is ready again']);
  });

  it('restarts a process on request without a delay, also one that ignores SIGTERM', async () => {
    const { process: supervised, pid } = await make('users', { STUBBORN: '1' });
    await supervised.start();
    const first = await pid();
    await Promise.all([supervised.restart(), supervised.restart()]);
    expect(await pid()).not.toBe(first);
    expect(() => process.kill(first, 0)).toThrow('ESRCH');
    // Neither the end of the process nor its start was unexpected.
    expect(said).toEqual([]);
  });

  it('rejects a restart that is requested when the process is stopped', async () => {
    const { process: supervised } = await make('users', { STUBBORN: '1' });
    await supervised.start();
    const restarted = supervised.restart();
    supervised.kill();
    await expect(restarted).rejects.toThrow('The process is being stopped');
  });
});

describe('stopInOrder', () => {
  it('stops processes in the reverse of the start order, and kills one that ignores SIGTERM after the time limit', async () => {
    const stubborn = await make('users', { STUBBORN: '1' });
    const gateway = await make('gateway');
    await Promise.all([stubborn.process.start(), gateway.process.start()]);
    const startedAt = Date.now();
    await stopInOrder([[stubborn.process], [gateway.process]], { totalTimeoutMs: 1000 });
    // One that is not killed does not end at all.
    expect(Date.now() - startedAt).toBeLessThan(10_000);
    await expect(stubborn.pid()).rejects.toThrow();
    await expect(gateway.pid()).rejects.toThrow();
    expect(said).toEqual([]);
  });
});

/** Starts another program, which answers every request with 200, as soon as the port is free. */
async function takePort(port: number): Promise<Server> {
  const server = createServer((_, response) => response.end());
  while (!server.listening) {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening').catch(() => undefined);
  }
  return server;
}

async function close(server: Server): Promise<void> {
  server.close();
  server.closeAllConnections();
  await once(server, 'close');
}

async function until(check: () => boolean): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!check()) {
    if (Date.now() > deadline) throw new Error('The condition was not met within 20 s');
    await new Promise((resolve) => setImmediate(resolve));
  }
}
