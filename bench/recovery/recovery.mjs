/** `npm run bench:recovery`: measures how long the system of `npm start` is unavailable after each of its processes is killed. */
import { spawn } from 'node:child_process';
import { chmod, mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { writeSection } from '../results.mjs';

const LIMIT_SECONDS = 5;
const KILLS_IN_A_ROW = 6;
const BETWEEN_KILLS_MS = 4000;
const POLL_MS = 20;
const GIVE_UP_MS = 60_000;
const SETTINGS = ['REST_PORT', 'GATEWAY_PORT', 'USERS_PORT', 'ORDERS_PORT', 'CONTENT_PORT', 'PG_PORT'];

const home = await mkdtemp(join(tmpdir(), 'trestle-recovery-'));
await chmod(home, 0o755);
const ports = Object.fromEntries(await Promise.all(SETTINGS.map(async (name) => [name, await findFreePort()])));
const supervisor = await start();
process.once('exit', () => supervisor.kill('SIGKILL'));
const rest = (path) => `http://127.0.0.1:${ports.REST_PORT}/v1${path}`;
const USERS = rest('/users?limit=1');
const ORDERS = rest('/products?limit=1');
const CONTENT = rest('/posts?limit=1');

/** The processes to kill, and the client requests that depend on each. */
const VICTIMS = {
  users: { find: () => childOf('subgraphs/users/'), needs: [USERS] },
  orders: { find: () => childOf('subgraphs/orders/'), needs: [ORDERS] },
  content: { find: () => childOf('subgraphs/content/'), needs: [CONTENT] },
  gateway: { find: () => childOf('/gateway/'), needs: [ORDERS] },
  'rest-bridge': { find: () => childOf('/rest-bridge/'), needs: [ORDERS] },
  PostgreSQL: { find: findPostmaster, needs: [USERS, ORDERS, CONTENT] },
};

const rows = [];
for (const [name, { find, needs }] of Object.entries(VICTIMS)) {
  const seconds = [];
  for (let kill = 0; kill < KILLS_IN_A_ROW; kill++) {
    const victim = await find();
    const killedAt = Date.now();
    process.kill(victim, 'SIGKILL');
    // The system has recovered when another process has replaced the killed one and every request that depends on it succeeds.
    await until(async () => ![victim, undefined].includes(await find()));
    for (const url of needs) await until(() => isServed(url));
    seconds.push((Date.now() - killedAt) / 1000);
    await delay(Math.max(0, killedAt + BETWEEN_KILLS_MS - Date.now()));
  }
  rows.push({ name, seconds });
  console.log(name.padEnd(12), seconds.map((each) => each.toFixed(2)).join('  '));
}

supervisor.kill('SIGTERM');
await new Promise((resolve) => supervisor.once('exit', resolve));
await rm(home, { recursive: true, force: true });
await report();

async function report() {
  const worst = Math.max(...rows.flatMap(({ seconds }) => seconds));
  const table = rows.map(({ name, seconds }) => `| ${name} | ${seconds.map((each) => each.toFixed(2)).join(' | ')} |`);
  const columns = rows[0].seconds.map((_, index) => `kill ${index + 1}`);
  const head = [`| killed | ${columns.join(' | ')} |`, `|${' --- |'.repeat(columns.length + 1)}`];
  const verdict = `Worst: ${worst.toFixed(2)} s; the goal is ${LIMIT_SECONDS} s: ${worst < LIMIT_SECONDS ? 'met' : 'MISSED'}.`;
  const text = `Seconds from \`kill -9\` until a client is answered again, ${BETWEEN_KILLS_MS / 1000} s between two kills.`;
  await writeSection('Recovery', { command: 'npm run bench:recovery', lines: ['', text, '', ...head, ...table, '', verdict] });
  if (worst >= LIMIT_SECONDS) process.exitCode = 1;
}

async function start() {
  const unlimited = { RATE_LIMIT_ANONYMOUS_PER_MIN: '1000000000' };
  const env = { PATH: process.env.PATH, DATA_DIR: join(home, 'data'), ...unlimited, ...mapValues(ports, String) };
  const main = fileURLToPath(new URL('../../local/dist/main.js', import.meta.url));
  const child = spawn(process.execPath, [main], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  await new Promise((resolve, reject) => {
    child.once('exit', () => reject(new Error(output)));
    child.stdout.on('data', (chunk) => {
      output += chunk.toString();
      if (output.includes('Trestle is ready')) resolve();
    });
  });
  return child;
}

async function childOf(script) {
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
    const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (Number(parent) !== supervisor.pid || state === 'Z') continue;
    if ((await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).includes(script)) return Number(pid);
  }
  return undefined;
}

async function findPostmaster() {
  const text = await readFile(join(home, 'data', 'postgres', 'postmaster.pid'), 'utf8').catch(() => '');
  const lines = text.split('\n');
  return lines[7]?.trim() === 'ready' ? Number(lines[0]) : undefined;
}

async function isServed(url) {
  const response = await fetch(url).catch(() => undefined);
  const text = await response?.text().catch(() => '');
  return response?.status === 200 && !text.includes('_errors');
}

async function until(check) {
  const deadline = Date.now() + GIVE_UP_MS;
  while (!(await check())) {
    if (Date.now() > deadline) throw new Error(`The system has not recovered within ${GIVE_UP_MS / 1000} s`);
    await delay(POLL_MS);
  }
}

function findFreePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

function mapValues(object, map) {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value)]));
}
