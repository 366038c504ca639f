/** `npm run bench`: the CPU time of `GET /v1/users/{id}` at the bridge, compared with other servers and a minimal one. */
import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { generateTokenKeys } from '@trestle/identity/tokens/tokens';
import { withPostgres } from '../postgres.mjs';
import { record } from './record.mjs';

const isQuick = process.argv.includes('--quick');
const ROUNDS = isQuick ? 3 : 5;
const REQUESTS = isQuick ? 4000 : 12_000;
const TICKS_PER_SECOND = Number(execFileSync('getconf', ['CLK_TCK']).toString());
const here = (path) => fileURLToPath(new URL(path, import.meta.url));

const { answers, userId, etag } = await withPostgres({}, record);
const home = await mkdtemp(join(tmpdir(), 'trestle-bench-'));
const children = [];
try {
  await writeFile(join(home, 'answers.json'), JSON.stringify(answers));
  await writeFile(join(home, 'public.pem'), generateTokenKeys().publicKeyPem);
  const upstream = await start('upstream.mjs', { ANSWERS_FILE: join(home, 'answers.json') }, 1);
  const env = { GATEWAY_URL: `http://127.0.0.1:${String(upstream.port)}/graphql`, USER_ID: userId };
  const bridge = await start(
    '../../rest-bridge/dist/bundle/main.js',
    { ...env, REST_PORT: '0', TOKEN_PUBLIC_KEY_FILE: join(home, 'public.pem'), RATE_LIMIT_ANONYMOUS_PER_MIN: '1000000000' },
    0,
  );
  const [bare, express, sofa] = [await start('bare.mjs', env, 0), await start('express.mjs', env, 0), await start('sofa.mjs', env, 0)];
  const load = fork(here('load.mjs'), { execArgv: [] });
  children.push(load);
  pin(load.pid, 1);

  const subjects = [
    { name: 'bare node:http + undici', server: bare, path: `/v1/users/${userId}`, headers: {}, expected: 200 },
    { name: 'bridge', server: bridge, path: `/v1/users/${userId}`, headers: {}, expected: 200 },
    { name: 'bridge, 304', server: bridge, path: `/v1/users/${userId}`, headers: { 'if-none-match': etag }, expected: 304 },
    { name: 'ordinary Express', server: express, path: `/v1/users/${userId}`, headers: {}, expected: 200 },
    { name: 'sofa-api', server: sofa, path: `/v1/user/${userId}`, headers: {}, expected: 200 },
  ];
  const costs = new Map(subjects.map(({ name }) => [name, []]));
  // The first round is a warm-up and is not counted.
  for (let round = 0; round <= ROUNDS; round++) {
    for (const { name, server, path, headers, expected } of subjects) {
      const before = await cpuSeconds(server.pid);
      const { wrong } = await run(load, { url: `http://127.0.0.1:${String(server.port)}${path}`, headers, requests: REQUESTS, expected });
      if (wrong > 0) throw new Error(`${name} sent ${String(wrong)} wrong responses`);
      if (round > 0) costs.get(name).push(((await cpuSeconds(server.pid)) - before) / REQUESTS);
    }
  }
  report(costs);
} finally {
  for (const child of children) await end(child);
  await rm(home, { recursive: true, force: true });
}

function report(costs) {
  const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
  const base = median(costs.get('bare node:http + undici'));
  const ratio = (name) => median(costs.get(name)) / base;
  console.log(
    `GET /v1/users/{id}: CPU time (user + system) of the server per request; medians of ${String(ROUNDS)} rounds of ${String(REQUESTS)}`,
  );
  for (const [name, values] of costs) {
    const spread = values.map((value) => (value / base).toFixed(2)).join(' ');
    console.log(`  ${name.padEnd(26)} ${(median(values) * 1e6).toFixed(0).padStart(6)} µs  ${ratio(name).toFixed(2)}×   (${spread})`);
  }
  const limits = [
    ['bridge at most 1.8× bare', ratio('bridge') <= 1.8],
    ['bridge below sofa-api', ratio('bridge') < ratio('sofa-api')],
    // Equal within the resolution of the CPU clock, which ticks 100 times a second.
    ['304 costs at most as much as 200', ratio('bridge, 304') <= ratio('bridge') * 1.05],
  ];
  for (const [limit, holds] of limits) console.log(`  ${holds ? 'holds' : 'FAILS'}: ${limit}`);
  if (limits.some(([, holds]) => !holds)) process.exitCode = 1;
}

function start(path, env, core) {
  return new Promise((resolve, reject) => {
    const profile = process.env.PROFILE && path.includes('rest-bridge') ? ['--cpu-prof', `--cpu-prof-dir=${process.env.PROFILE}`] : [];
    const child = fork(here(path), {
      env: { PATH: process.env.PATH, LOG_LEVEL: 'info', ...env },
      execArgv: profile,
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    });
    children.push(child);
    pin(child.pid, core);
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`${path} ended with ${String(code)}`)));
    child.on('message', ({ port }) => resolve({ pid: child.pid, port }));
    let output = '';
    child.stdout.on('data', (chunk) => {
      if (output !== undefined) output += chunk.toString();
      const port = /"msg":"listening".*/.exec(output ?? '') && /"port":(\d+)/.exec(output)?.[1];
      if (!port) return;
      // The rest of the log is read and discarded.
      output = undefined;
      resolve({ pid: child.pid, port: Number(port) });
    });
  });
}

/** A process writes its profile when it ends by itself. */
async function end(child) {
  if (child.exitCode !== null) return;
  child.removeAllListeners('exit');
  const ended = once(child, 'exit');
  child.kill(child.spawnargs.includes('--cpu-prof') ? 'SIGTERM' : 'SIGKILL');
  await ended;
}

/** Pins a process to a core: the measured server to one, everything else to the other. */
function pin(pid, core) {
  execFileSync('taskset', ['-a', '-p', '-c', String(core), String(pid)], { stdio: 'ignore' });
}

async function cpuSeconds(pid) {
  const fields = (await readFile(`/proc/${String(pid)}/stat`, 'utf8')).split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

function run(load, job) {
  return new Promise((resolve) => {
    load.once('message', resolve);
    load.send(job);
  });
}
