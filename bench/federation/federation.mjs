/**
 * `npm run bench:federation`: the public federation benchmark's schema, data and operation on the gateways that npm has. Prints a table and writes it
 * to RESULTS.md. `--quick` takes less time and writes nothing, `--only=hive,trestle` starts only gateways whose name begins so.
 */
import { fork, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MEASURED, OTHER, ask, createProcesses, pin, processTree, usageOf } from '../processes.mjs';
import { writeSection } from '../results.mjs';
import { QUERY, compose, expectedResult } from './supergraph.mjs';
import { listVersions } from './versions.mjs';

const isQuick = process.argv.includes('--quick');
const only = process.argv
  .find((argument) => argument.startsWith('--only='))
  ?.slice(7)
  .split(',');
const ROUNDS = isQuick ? 1 : 3;
const SECONDS = isQuick ? 2 : 3;
/** As in the public benchmark. */
const CONNECTIONS = 50;
const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const MODULE = new URL('supergraph.mjs', import.meta.url).href;
const home = await mkdtemp(join(tmpdir(), 'trestle-federation-'));
const processes = createProcesses();
const peersAlive = [];

try {
  const stub = await processes.fork(here('../gateway/stub.mjs'), { env: { SUBGRAPHS_MODULE: MODULE } });
  const urls = Object.fromEntries(Object.entries(stub.ports).map(([name, port]) => [name, `http://127.0.0.1:${port}/graphql`]));
  const supergraph = join(home, 'supergraph.graphql');
  await writeFile(supergraph, compose(urls));
  const env = {
    SUPERGRAPH_PATH: supergraph,
    URLS: JSON.stringify(urls),
    SUBGRAPHS_MODULE: MODULE,
    FORWARD_AUTHORIZATION: '1',
    NODE_ENV: 'production',
  };
  const load = fork(here('../gateway/load.mjs'));
  peersAlive.push(load);
  pin(load.pid, OTHER);
  const expected = await expectedResult();
  const gateways = [];
  for (const start of [startTrestle, startApollo, startPeers]) gateways.push(...(await start(env)));
  const results = [];
  for (const gateway of gateways) results.push({ gateway, ...(await warmUp(load, gateway, expected)), rounds: [], distinct: [] });
  for (let round = 0; round < ROUNDS; round++)
    for (const result of results.filter(({ perSecond }) => perSecond > 0)) {
      result.rounds.push(await measure({ load, stub: stub.child }, result));
      result.distinct.push(await measure({ load, stub: stub.child, isDistinct: true }, result));
    }
  await report(results, expected);
} finally {
  processes.endAll();
  for (const child of peersAlive) child.kill('SIGKILL');
  await rm(home, { recursive: true, force: true });
}

function isWanted(name) {
  return !only || only.some((each) => name.startsWith(each));
}

async function startTrestle(env) {
  const started = [];
  for (const [executor, batches] of ['bytes', 'objects'].flatMap((each) => [
    [each, 'on'],
    [each, 'off'],
  ])) {
    const name = `trestle, ${executor}${batches === 'on' ? '' : ', no batches'}`;
    if (!isWanted(name)) continue;
    const options = { EXECUTOR: executor, BATCH_ENTITIES: batches, UPSTREAM_DEDUPLICATION: 'on', OPERATION_DEDUPLICATION: 'on' };
    const gateway = await processes.spawn(here('../../gateway/bin/trestle-gateway.mjs'), {
      args: ['--port', '0', '--auth', 'off'],
      env: { ...env, ...options },
    });
    const flags = Object.entries(options).map(([key, value]) => `\`${key}=${value}\``);
    started.push({ name, flags: ['`--auth off`', ...flags].join(', '), ...gateway });
  }
  return started;
}

async function startApollo(env) {
  if (!isWanted('apollo')) return [];
  const apollo = await processes.fork(here('../gateway/apollo.mjs'), { env, core: MEASURED });
  return [{ name: 'apollo', flags: '`startStandaloneServer`, `NODE_ENV=production`', ...apollo }];
}

/** The peers are installed separately, with `npm install` in bench/peers. */
async function startPeers(env) {
  const peers = here('../peers/');
  if (!existsSync(join(peers, 'node_modules'))) return [];
  const { startAll } = await import('../peers/peers.mjs');
  return startAll({
    env,
    isWanted,
    withDeduplication: true,
    spawn: (command, args, options) => {
      const child = spawn(command, args, { cwd: peers, stdio: ['ignore', 'pipe', 'pipe'], ...options });
      peersAlive.push(child);
      pin(child.pid, MEASURED);
      return child;
    },
  });
}

function jobOf({ port, path = '/graphql' }) {
  return {
    url: `http://127.0.0.1:${port}${path}`,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: QUERY }),
    connections: CONNECTIONS,
  };
}

/** Sends requests for some seconds, so that code is compiled. Resolves with the verdict on the response and with the rate. */
async function warmUp(load, gateway, expected) {
  const job = jobOf(gateway);
  const first = await ask(load, { ...job, requests: 4, connections: 1 });
  const verdict = judge(first.last, expected);
  if (verdict.startsWith('no')) return { verdict, perSecond: 0 };
  let rate = 4000 / first.milliseconds;
  for (const seconds of [1, 2]) {
    const requests = Math.max(CONNECTIONS, Math.round(rate * seconds));
    const { milliseconds } = await ask(load, { ...job, requests });
    rate = (requests * 1000) / milliseconds;
  }
  return { verdict, perSecond: rate, bytes: Buffer.byteLength(first.last) };
}

/** Compares a response with the expected result, also in the order of fields. */
function judge(text, expected) {
  const { data, errors } = JSON.parse(text);
  if (errors) return `no: ${errors.length} errors, "${errors[0].message}"`;
  if (JSON.stringify(data) === JSON.stringify(expected.data)) return 'right';
  return JSON.stringify(sorted(data)) === JSON.stringify(sorted(expected.data)) ? 'right, fields in another order' : 'no: other data';
}

function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, each]) => [key, sorted(each)]),
  );
}

async function measure({ load, stub, isDistinct = false }, { gateway, perSecond, bytes, distinct }) {
  // The rate of distinct requests is known after the first round.
  const rate = isDistinct ? (distinct.at(-1)?.perSecond ?? perSecond / 4) : perSecond;
  const requests = Math.max(CONNECTIONS, Math.round(rate * SECONDS));
  const pids = await processTree(gateway.pid);
  const before = { ...(await usageOf(pids)), ...(await ask(stub, 'count')) };
  const { milliseconds, wrong, p50, p99 } = await ask(load, { ...jobOf(gateway), requests, expected: bytes, isDistinct });
  const after = { ...(await usageOf(pids)), ...(await ask(stub, 'count')) };
  if (wrong > 0) throw new Error(`${gateway.name} returned ${wrong} wrong responses`);
  const cpu = after.seconds - before.seconds;
  return {
    perSecond: (requests * 1000) / milliseconds,
    cpu: (cpu * 1000) / requests,
    busy: (cpu * 1000) / milliseconds,
    p50,
    p99,
    rss: after.megabytes,
    fetches: (after.requests - before.requests) / requests,
  };
}

async function report(results, expected) {
  const median = (rounds, key) => rounds.map((round) => round[key]).toSorted((a, b) => a - b)[Math.floor(rounds.length / 2)];
  const toCells = (rounds) => {
    const of = (key, digits) => median(rounds, key).toFixed(digits);
    return [
      of('perSecond', 0),
      `${of('cpu', 2)} ms`,
      `${(median(rounds, 'busy') * 100).toFixed(0)} %`,
      of('fetches', 1),
      `${of('p50', 1)} ms`,
      `${of('p99', 1)} ms`,
      `${Math.max(...rounds.map(({ rss }) => rss))} MB`,
    ];
  };
  const tableOf = (key) => [
    '| gateway | flags | requests/s | CPU a request | core busy | fetches a request | p50 | p99 | highest RSS | response |',
    '| - | - | -: | -: | -: | -: | -: | -: | -: | - |',
    ...results.map(({ gateway: { name, flags }, verdict, ...measured }) => {
      const cells = measured[key].length > 0 ? toCells(measured[key]) : Array.from({ length: 7 }, () => '');
      return `| ${[name, flags, ...cells, verdict].join(' | ')} |`;
    }),
  ];
  const kilobytes = (Buffer.byteLength(JSON.stringify(expected)) / 1024).toFixed(0);
  const lines = [
    `One query over four subgraphs, ${kilobytes} KB of response, ${CONNECTIONS} connections. The gateway has one core, subgraphs and load the other: where the`,
    'gateway’s core is not busy, the requests per second are those of the other core. Medians of interleaved rounds; CPU is that of all threads and',
    'processes of the gateway.',
    '',
    '### Each request with another Authorization',
    '',
    'All gateways pass it on, so no two requests, and no two fetches of them, may share a response.',
    '',
    ...tableOf('distinct'),
    '',
    '### Equal requests',
    '',
    'As in the public benchmark. A gateway that executes equal requests or fetches in flight once does a part of the work. Compare the',
    'fetches from subgraphs for each request.',
    '',
    ...tableOf('rounds'),
    '',
    `Versions: ${(await listVersions()).join(', ')}. Cosmo’s router (Go), Apollo’s Router and Hive Router (Rust) are not on npm.`,
  ];
  console.log(lines.join('\n'));
  if (isQuick || only || !existsSync(here('../peers/node_modules'))) {
    console.log('RESULTS.md is unchanged: this run is not a whole one.');
    return;
  }
  await writeSection('The public federation benchmark', { command: 'npm run bench:federation', lines });
}
