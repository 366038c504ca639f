/**
 * `npm run bench:workers`: what several workers cost and bring. Compares one process on one core with two workers on two cores, and with two processes
 * that have no primary, in interleaved rounds. Needs `wrk` and `nginx`, which cost little, so that the gateway takes most of the time of both cores.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execute, parse } from 'graphql';
import { childrenOf, createProcesses, pin, preciseCpuSeconds, residentKilobytes } from '../processes.mjs';
import { writeSection } from '../results.mjs';
import { SCENES } from './scenes.mjs';
import { SUBGRAPHS, buildSchema, compose } from './supergraph.mjs';

const isQuick = process.argv.includes('--quick');
const isWritten = process.argv.includes('--write');
const ROUNDS = isQuick ? 3 : 8;
const SECONDS = isQuick ? 1 : 3;
const CONNECTIONS = 32;
/** V8 compiles what is used often: a process that has answered less takes several times the CPU for a request. */
const WARM_REQUESTS = isQuick ? 15_000 : 60_000;
const MAX_WARM_ROUNDS = 40;
/** Above this load other work takes a part of the cores, so that throughput says nothing. */
const QUIET_LOAD = 0.5;
const BOTH = '0,1';
const COMMAND = fileURLToPath(new URL('../../gateway/bin/trestle-gateway.mjs', import.meta.url));

const home = await mkdtemp(join(tmpdir(), 'trestle-bench-workers-'));
const processes = createProcesses();
let nginx;
const [loadBefore] = loadavg();

try {
  const port = await findPort();
  const urls = Object.fromEntries(Object.keys(SUBGRAPHS).map((name) => [name, `http://127.0.0.1:${port}/${name}`]));
  const supergraph = join(home, 'supergraph.graphql');
  await writeFile(supergraph, compose(urls));
  const [small, large] = ['a', 'b'].map((chain) => SCENES.find((scene) => scene.chain === chain));
  const recorder = await startVariants(supergraph, {});
  const responses = await recordResponses(port, { url: recorder[0].gateways[0].port, scenes: [small, large] });
  nginx = await startNginx(port);
  const results = [];
  const measure = async (name, scene, variants) => {
    for (const [subgraph, text] of Object.entries(responses.get(scene))) await writeFile(join(home, 'www', subgraph), text);
    results.push({ name, samples: await measureScene(scene, { variants }) });
  };
  await measure(small.name, small, recorder);
  await measure(large.name, large, recorder);
  const memory = await readMemory(recorder);
  for (const { gateways } of recorder) for (const { child } of gateways) child.removeAllListeners('exit').kill('SIGKILL');
  await measure(`${small.name}, with rate limits`, small, await startVariants(supergraph, { RATE_LIMIT_ANONYMOUS_PER_MIN: '1000000000' }));
  const lines = describe(results, memory);
  console.log(lines.join('\n'));
  if (isWritten) await writeSection('Several workers', { command: 'npm run bench:workers', lines });
} finally {
  // Its workers end with it only when it is not killed.
  if (nginx?.kill('SIGTERM')) await once(nginx, 'exit');
  processes.endAll();
  await rm(home, { recursive: true, force: true });
}

/** Starts the gateways that are compared. */
async function startVariants(supergraph, env) {
  const start = (workers) => {
    const args = ['--supergraph', supergraph, '--port', '0', '--auth', 'off', '--workers', String(workers)];
    return processes.spawn(COMMAND, { args, env, core: BOTH });
  };
  return [
    { name: 'one process, one core', cores: '0', processes: 1, gateways: [await start(1)] },
    { name: 'two workers, two cores', cores: BOTH, processes: 2, gateways: [await start(2)] },
    { name: 'two processes without a primary, two cores', cores: BOTH, processes: 2, gateways: [await start(1), await start(1)] },
  ];
}

/** Returns the resident memory of the processes of each variant, in MB. */
function readMemory(variants) {
  return Promise.all(
    variants.map(async ({ name, gateways }) => {
      const kilobytes = await Promise.all((await pidsOf(gateways)).map(residentKilobytes));
      return { name, megabytes: kilobytes.map((each) => Math.round(each / 1024)) };
    }),
  );
}

/** Answers the subgraphs' requests of each scene once, and returns the responses by the name of the subgraph. */
async function recordResponses(port, { url, scenes }) {
  let current = {};
  const schemas = Object.fromEntries(Object.keys(SUBGRAPHS).map((name) => [name, buildSchema(name)]));
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    const { query, variables, operationName } = JSON.parse(text);
    const name = request.url.slice(1);
    const result = await execute({ schema: schemas[name], document: parse(query), variableValues: variables, operationName });
    current[name] = JSON.stringify(result);
    response.writeHead(200, { 'content-type': 'application/json', connection: 'close' }).end(current[name]);
  });
  await new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));
  const recorded = new Map();
  for (const scene of scenes) {
    current = {};
    await sendOnce(url, scene);
    recorded.set(scene, current);
  }
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  return recorded;
}

async function sendOnce(port, { query, variables }) {
  const response = await fetch(`http://127.0.0.1:${port}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables }),
  });
  const { data, errors } = await response.json();
  if (!data || errors) throw new Error(`The gateway did not answer as it should: ${JSON.stringify(errors)}`);
}

async function measureScene(scene, { variants }) {
  const samples = new Map(variants.map(({ name }) => [name, []]));
  const script = join(home, 'post.lua');
  const body = JSON.stringify({ query: scene.query, variables: scene.variables });
  const lines = ["wrk.method = 'POST'", "wrk.headers['content-type'] = 'application/json'", `wrk.body = [==[${body}]==]`];
  await writeFile(script, lines.join('\n'));
  const run = async ({ cores, gateways, processes: count }) => {
    const pids = await pidsOf(gateways);
    for (const pid of [...pids, ...(await withChildren(nginx.pid))]) pin(pid, cores);
    const before = await cpuOf(pids);
    // One generator for each process that answers: two threads of one cost the gateway more CPU than two of them.
    const ports = Array.from({ length: count }, (_, i) => gateways[i % gateways.length].port);
    const connections = CONNECTIONS / count;
    const counts = await Promise.all(ports.map((port) => runWrk(port, { script, cores, connections })));
    const requests = counts.reduce((sum, each) => sum + each, 0);
    return { requests, cpu: ((await cpuOf(pids)) - before) / requests, perSecond: requests / SECONDS };
  };
  for (const variant of variants) {
    const wanted = WARM_REQUESTS * variant.processes;
    for (let answered = 0, round = 0; answered < wanted && round < MAX_WARM_ROUNDS; round++) answered += (await run(variant)).requests;
  }
  for (let round = 0; round < ROUNDS; round++) for (const variant of variants) samples.get(variant.name).push(await run(variant));
  return samples;
}

/** Resolves with the number of requests that were answered. Rejects when one was not answered with 200. */
function runWrk(port, { script, cores, connections }) {
  const args = ['-t1', `-c${connections}`, `-d${SECONDS}s`, '-s', script, `http://127.0.0.1:${port}/graphql`];
  return new Promise((resolve, reject) => {
    const child = spawn('taskset', ['-c', cores, 'wrk', ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    child.once('error', reject);
    child.once('close', () => {
      const requests = Number(/^ *(\d+) requests in/m.exec(output)?.[1]);
      if (!(requests > 0) || /Non-2xx|Socket errors/.test(output)) reject(new Error(`wrk failed: ${output}`));
      else resolve(requests);
    });
  });
}

/** Starts an nginx that answers every POST with the file of its path. Resolves with it once it accepts connections. */
async function startNginx(port) {
  await mkdir(join(home, 'www'), { recursive: true });
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${home}/${name};`).join(' ');
  const file = join(home, 'nginx.conf');
  await writeFile(
    file,
    `daemon off; user root; worker_processes 2; pid ${home}/nginx.pid; error_log stderr crit;
events { worker_connections 1024; }
http { access_log off; keepalive_requests 1000000000; keepalive_timeout 600; default_type application/json; client_body_buffer_size 64k; ${paths}
server { listen 127.0.0.1:${port} reuseport; root ${home}/www; error_page 405 =200 $uri; } }`,
  );
  const server = processes.keep(spawn('nginx', ['-c', file, '-p', home], { stdio: ['ignore', 'inherit', 'inherit'] }));
  for (;;) {
    const response = await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined);
    if (response) return server;
  }
}

/** Returns a port that is free now. */
async function findPort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function withChildren(pid) {
  return [pid, ...(await childrenOf(pid))];
}

async function pidsOf(gateways) {
  return (await Promise.all(gateways.map(({ pid }) => withChildren(pid)))).flat();
}

async function cpuOf(pids) {
  return (await Promise.all(pids.map(preciseCpuSeconds))).reduce((sum, each) => sum + each, 0);
}

function describe(results, memory) {
  const lines = [
    `Load average: ${loadBefore.toFixed(2)} before, ${loadavg()[0].toFixed(2)} after; ${CONNECTIONS} connections; medians of ${ROUNDS} rounds.`,
    ...(loadBefore > QUIET_LOAD ? ['The machine was not idle before: figures of throughput say little.'] : []),
  ];
  for (const { name: title, samples } of results) {
    lines.push(
      '',
      `## ${title}`,
      '',
      '| gateway | CPU µs/request | CPU ratio | requests/s | throughput ratio |',
      '| --- | --- | --- | --- | --- |',
    );
    const [first] = samples.values();
    for (const [name, own] of samples) {
      const ratio = (key) => median(own.map((sample, i) => sample[key] / first[i][key])).toFixed(2);
      const cpu = (median(own.map((sample) => sample.cpu)) * 1e6).toFixed(0);
      const perSecond = median(own.map((sample) => sample.perSecond)).toFixed(0);
      lines.push(`| ${name} | ${cpu} | ${ratio('cpu')} | ${perSecond} | ${ratio('perSecond')} |`);
    }
  }
  lines.push('', '| gateway | resident memory of each process, MB |', '| --- | --- |');
  for (const { name, megabytes } of memory) lines.push(`| ${name} | ${megabytes.join(', ')} |`);
  return lines;
}

function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  return (sorted[Math.floor((sorted.length - 1) / 2)] + sorted[Math.ceil((sorted.length - 1) / 2)]) / 2;
}
