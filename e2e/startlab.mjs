import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { startEmbeddedPostgres } from '@trestle/postgres/embedded';
import { startStack } from './dist/stack/stack.js';
const [rounds = '5', variants = 'bundle-old,bundle', which = 'users,orders,content,gateway,rest-bridge', ...nodeArgs] = process.argv.slice(2);
const ROOMS = { users: 'subgraphs/users', orders: 'subgraphs/orders', content: 'subgraphs/content', gateway: 'gateway', 'rest-bridge': 'rest-bridge' };
const home = await mkdtemp('/tmp/startlab/pg-');
const server = await startEmbeddedPostgres({ dataDir: home, flags: ['fsync=off','synchronous_commit=off','full_page_writes=off','autovacuum=off','max_connections=300'].flatMap((s) => ['-c', s]) });
process.env.TEST_PG_URL = server.url('postgres');
const stack = await startStack({ publicHost: process.env.OAUTH === 'off' ? undefined : '127.0.0.1' });
const root = new URL('..', import.meta.url).pathname;
const cpu = (pid) => { const f = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' '); return (Number(f[11]) + Number(f[12])) / 100; };
const rss = (pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024;
const portName = { users: 'USERS_PORT', orders: 'ORDERS_PORT', content: 'CONTENT_PORT', gateway: 'GATEWAY_PORT', 'rest-bridge': 'REST_PORT' };
async function one(name, variant) {
  const settings = { ...stack.settings[name === 'rest-bridge' ? 'bridge' : name], [portName[name]]: '0' };
  const began = performance.now();
  const child = spawn(process.execPath, [...nodeArgs.map((a) => a.replace('%', name)), `${root}${ROOMS[name]}/dist/${variant}/main.js`], { env: { PATH: process.env.PATH, LOG_LEVEL: process.env.LOG ?? 'info', HOST: '127.0.0.1', DRAIN_DELAY_MS: '0', OVERWRITE_MEMORY: 'on', ...(process.env.NO_OPTS ? {} : {}), ...settings }, stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  const done = new Promise((r) => child.once('exit', r));
  const result = await new Promise((resolve, reject) => {
    child.once('exit', (c) => reject(new Error('ended ' + c)));
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (process.env.SHOW) console.log(name, (performance.now() - began).toFixed(0), cpu(child.pid), line.slice(0, 150));
      if (line.includes('"msg":"listening"')) resolve({ wall: (performance.now() - began) / 1000, cpu: cpu(child.pid) });
    });
  });
  await pause(400);
  result.after = cpu(child.pid); result.rss = rss(child.pid);
  child.kill('SIGTERM'); await done;
  return result;
}
const med = (v) => v.sort((a, b) => a - b)[Math.floor(v.length / 2)];
try {
  const all = {};
  for (let r = 0; r < Number(rounds); r++) for (const n of which.split(',')) for (const v of variants.split(',')) (all[`${n} ${v}`] ??= []).push(await one(n, v));
  for (const [k, rs] of Object.entries(all)) console.log(k.padEnd(24), ['wall', 'cpu', 'after', 'rss'].map((f) => `${f} ${med(rs.map((x) => x[f])).toFixed(2)}`).join('  '));
} finally { await stack.stop(); await server.stop(); await rm(home, { recursive: true, force: true }); }
