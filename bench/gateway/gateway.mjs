/**
 * `npm run bench:gateway`: CPU time (user + system) of the gateway's process per request, compared with a hand-written chain and other
 * gateways in interleaved rounds of one run. Peers that are not installed are left out: see README.md.
 */
import { execFileSync, fork, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createTestGrant } from '@trestle/identity/tokens/test-identity';
import { createTokenIssuer, generateTokenKeys } from '@trestle/identity/tokens/tokens';
import { MORE_SCENES } from './more-scenes.mjs';
import { compose } from './more-subgraphs.mjs';
import { report } from './report.mjs';
import { SCENES } from './scenes.mjs';

const isQuick = process.argv.includes('--quick');
const beside = process.argv.find((argument) => argument.startsWith('--beside='))?.slice(9);
const only = process.argv.find((argument) => argument.startsWith('--only='))?.slice(7);
const wanted = process.argv.find((argument) => argument.startsWith('--scenes='))?.slice(9);
const ROUNDS = isQuick ? 2 : 5;
const SECONDS_PER_ROUND = isQuick ? 1 : 2;
const CONNECTIONS = 32;
const TICKS_PER_SECOND = Number(execFileSync('getconf', ['CLK_TCK']).toString());
const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const SUBGRAPHS_MODULE = new URL('more-subgraphs.mjs', import.meta.url).href;
const home = await mkdtemp(join(tmpdir(), 'trestle-bench-'));
const children = [];

try {
  const stub = await startFork('stub.mjs', { SUBGRAPHS_MODULE }, 1);
  const urls = Object.fromEntries(Object.entries(stub.ports).map(([name, port]) => [name, `http://127.0.0.1:${port}/graphql`]));
  const supergraph = join(home, 'supergraph.graphql');
  await writeFile(supergraph, compose(urls));
  const keys = generateTokenKeys();
  await writeFile(join(home, 'public.pem'), keys.publicKeyPem);
  const { token } = createTokenIssuer(keys).issue(createTestGrant({ id: 'usr_1' }));
  const env = { SUPERGRAPH_PATH: supergraph, URLS: JSON.stringify(urls), SUBGRAPHS_MODULE };

  const gateways = [
    { name: 'chain', ...(await startFork('chain.mjs', env, 0)) },
    { name: 'trestle', ...(await startTrestle(['--auth', 'off'], { ...env, EXECUTOR: 'bytes' })) },
    {
      name: 'trestle, parser of Node.js',
      only: ['a', 'd'],
      ...(await startTrestle(['--auth', 'off'], { ...env, EXECUTOR: 'bytes', REQUEST_READER: 'node' })),
    },
    { name: 'trestle, objects', ...(await startTrestle(['--auth', 'off'], { ...env, EXECUTOR: 'objects' })) },
    ...(beside ? [{ name: 'trestle beside', ...(await startTrestle(['--auth', 'off'], env, beside)) }] : []),
    {
      name: 'trestle, empty hooks',
      only: ['a', 'b'],
      ...(await startTrestle(['--auth', 'off'], { ...env, EXECUTOR: 'bytes', EXTENSIONS_FILE: here('empty-hooks.mjs') })),
    },
    {
      name: 'trestle, token checked',
      only: ['a', 'b'],
      headers: { authorization: `Bearer ${token}` },
      ...(await startTrestle([], {
        ...env,
        EXECUTOR: 'bytes',
        RATE_LIMIT_FREE_PER_MIN: '1000000',
        TOKEN_PUBLIC_KEY_FILE: join(home, 'public.pem'),
      })),
    },
    { name: 'apollo', ...(await startFork('apollo.mjs', env, 0)) },
    ...(await startPeers(env)),
  ].filter(({ name }) => !only || only.split(',').some((each) => name.startsWith(each)) || name === 'chain');
  const load = fork(here('load.mjs'));
  children.push(load);
  pin(load.pid, 1);

  const results = [];
  for (const scene of [...SCENES, ...MORE_SCENES].filter(({ chain }) => !wanted || wanted.includes(chain))) {
    const body = JSON.stringify({ query: scene.query, variables: scene.variables });
    const taking = gateways.filter((gateway) => !gateway.only || gateway.only.includes(scene.chain));
    const samples = new Map(taking.map(({ name }) => [name, []]));
    const counts = new Map();
    const lengths = new Map();
    let expected;
    for (let round = 0; round <= ROUNDS; round++) {
      for (const { name, pid, port, path = '/graphql', headers } of taking) {
        const job = {
          url: `http://127.0.0.1:${port}${path}`,
          headers: { 'content-type': 'application/json', 'x-scene': scene.chain, ...headers },
          body,
          connections: CONNECTIONS,
        };
        if (round === 0) {
          // Warms up, checks the response, and determines how many requests fill a round.
          const warm = await run(load, { ...job, requests: 400 });
          const { errors, data } = JSON.parse(warm.last);
          if (Boolean(errors) !== Boolean(scene.hasErrors) || !data) {
            console.log(`${name} is left out of ${scene.name}. Its response: ${warm.last.slice(0, 200)}`);
            samples.delete(name);
            continue;
          }
          if (name === 'chain') expected = warm.last.length;
          // Gateways write errors in their own ways.
          lengths.set(name, scene.hasErrors ? warm.last.length : expected);
          const steady = await run(load, { ...job, requests: Math.round((400 / warm.milliseconds) * 2000) });
          const again = await run(load, { ...job, requests: Math.round((400 / warm.milliseconds) * 1000) });
          const perSecond = Math.round(((400 / warm.milliseconds) * 1000 * 1000) / again.milliseconds);
          counts.set(name, Math.max(200, perSecond * SECONDS_PER_ROUND));
          if (steady.wrong > 0) throw new Error(`${name} returned ${steady.wrong} wrong responses while warming up`);
          continue;
        }
        if (!samples.has(name)) continue;
        const requests = counts.get(name);
        const before = await cpuSeconds(pid);
        const { wrong, p99 } = await run(load, { ...job, requests, expected: lengths.get(name) });
        if (wrong > 0) throw new Error(`${name} returned ${wrong} wrong responses in ${scene.name}`);
        samples.get(name).push({ cpu: ((await cpuSeconds(pid)) - before) / requests, p99 });
      }
    }
    results.push({ scene: scene.name, bytes: expected, samples });
  }
  const memory = await Promise.all(gateways.map(async ({ name, pid }) => [name, await residentMegabytes(pid)]));
  await report({ results, memory, missing: listMissing() });
} finally {
  for (const child of children) child.kill('SIGKILL');
  await rm(home, { recursive: true, force: true });
}

function startFork(path, env, core) {
  return new Promise((resolve, reject) => {
    const child = fork(here(path), {
      env: { PATH: process.env.PATH, ...env },
      execArgv: [],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    children.push(child);
    pin(child.pid, core);
    child.once('exit', (code) => reject(new Error(`${path} ended with ${code}`)));
    child.once('message', (message) => resolve({ pid: child.pid, ...message }));
  });
}

/** Returns what makes this run a part of a whole one. */
function listMissing() {
  const options = process.argv.slice(2).filter((argument) => /^--(?:quick|beside=|only=|scenes=)/.test(argument));
  return [...options, ...(existsSync(join(here('../peers/'), 'node_modules')) ? [] : ['bench/peers is not installed'])];
}

/** Starts the gateway of this checkout, or of another one. */
function startTrestle(args, env, checkout = here('../..')) {
  // The command itself, which sets the limit of its heap.
  const child = spawn(join(checkout, 'gateway/bin/trestle-gateway.mjs'), ['--port', '0', ...args], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return listening(child, /"msg":"listening"/, /"port":(\d+)/);
}

/** Starts the peers. They are installed separately, with `npm ci` in bench/peers. */
async function startPeers(env) {
  const peers = here('../peers/');
  if (!existsSync(join(peers, 'node_modules'))) return [];
  const { startAll } = await import(join(peers, 'peers.mjs'));
  return startAll({
    env,
    spawn: (command, args, options) => {
      const child = spawn(command, args, { cwd: peers, stdio: ['ignore', 'pipe', 'pipe'], ...options });
      children.push(child);
      pin(child.pid, 0);
      return child;
    },
  });
}

function listening(child, line, port) {
  children.push(child);
  pin(child.pid, 0);
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`The process ended with code ${code}`)));
    let output = '';
    child.stdout.on('data', (chunk) => {
      if (output === undefined) return;
      output += chunk.toString();
      const found = line.test(output) && port.exec(output)?.[1];
      if (!found) return;
      output = undefined;
      resolve({ pid: child.pid, port: Number(found) });
    });
  });
}

/** Pins a process to a core: the gateway to one, all other processes to the other. */
function pin(pid, core) {
  execFileSync('taskset', ['-a', '-p', '-c', String(core), String(pid)], { stdio: 'ignore' });
}

async function cpuSeconds(pid) {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

async function residentMegabytes(pid) {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)[1]) / 1024);
}

function run(load, job) {
  return new Promise((resolve) => {
    load.once('message', resolve);
    load.send(job);
  });
}
