/**
 * `npm run bench:features`: CPU time of the gateway's process per request with one feature switched on, beside a process without it, in short alternating
 * rounds. Prints a table and writes it into docs/gateway/costs.md. `--quick` takes less time and writes nothing; `--only=traces,TLS` measures features
 * whose name begins so, and writes nothing either.
 */
import { fork } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createTestGrant } from '@trestle/identity/tokens/test-identity';
import { createTokenIssuer, generateTokenKeys } from '@trestle/identity/tokens/tokens';
import { format, resolveConfig } from 'prettier';
import { generate } from 'selfsigned';
import { OTHER, ask, createProcesses, pin, preciseCpuSeconds, processTree } from '../processes.mjs';
import { listFeatures } from './feature-list.mjs';
import { SCENES } from './scenes.mjs';
import { compose } from './supergraph.mjs';

const isQuick = process.argv.includes('--quick');
const only = process.argv
  .find((argument) => argument.startsWith('--only='))
  ?.slice(7)
  .split(',');
const ROUNDS = isQuick ? 3 : 9;
const SECONDS_PER_ROUND = 0.25;
/** Requests by scene, as many for both processes, so that the code of both is compiled to the same degree. */
const WARM_UP = isQuick ? { a: 2000, b: 800 } : { a: 8000, b: 3000 };
const CONNECTIONS = 32;
/** What no process has: lines for each request. */
const PLAIN = { AUTH: 'off', LOG_LEVEL: 'warn' };
const PAGE = new URL('../../docs/gateway/costs.md', import.meta.url);
const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const scenes = SCENES.filter(({ chain }) => chain === 'a' || chain === 'b');
const home = await mkdtemp(join(tmpdir(), 'trestle-features-'));
const processes = createProcesses();
const collector = createServer((request, response) =>
  request.resume().on('end', () => response.setHeader('content-type', 'application/json').end('{}')),
).listen(0, '127.0.0.1');
const load = fork(here('load.mjs'), { env: { PATH: process.env.PATH, NODE_TLS_REJECT_UNAUTHORIZED: '0', NODE_NO_WARNINGS: '1' } });

try {
  for (const pid of [process.pid, load.pid]) pin(pid, OTHER);
  const stub = await processes.fork(here('stub.mjs'));
  const urlsOf = ({ hasHttp2 = false }) => toUrls(hasHttp2 ? stub.http2Ports : stub.ports);
  const features = listFeatures({ ...(await createKeys()), hooks: here('empty-hooks.mjs'), scenes, collector: urlOf(collector) });
  const rows = [];
  for (const feature of features) {
    if (feature.isBase || (only && !only.some((each) => feature.name.startsWith(each)))) continue;
    const base = features.find(({ name, isBase }) => isBase && name === (feature.against ?? 'plain'));
    const pair = await Promise.all([base, feature].map((each) => start(each, urlsOf(each))));
    for (const each of pair) await warmUp(each);
    rows.push({ feature, results: await compare(...pair) });
    console.log(toRow(rows.at(-1)));
    for (const { child } of pair) child.kill('SIGTERM');
  }
  await report(rows);
} finally {
  processes.endAll();
  load.kill('SIGKILL');
  collector.closeAllConnections();
  collector.close();
  await rm(home, { recursive: true, force: true });
}

/** Returns the address of each subgraph. */
function toUrls(ports) {
  return Object.fromEntries(Object.entries(ports).map(([name, port]) => [name, `http://127.0.0.1:${port}/graphql`]));
}

function urlOf(server) {
  return `http://127.0.0.1:${server.address().port}`;
}

/** Creates a token, the key that verifies it, and a certificate. */
async function createKeys() {
  const keys = generateTokenKeys();
  const key = join(home, 'public.pem');
  const certificate = { certFile: join(home, 'cert.pem'), keyFile: join(home, 'key.pem') };
  const { cert, private: privateKey } = await generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'ec',
    algorithm: 'sha256',
  });
  await Promise.all([writeFile(key, keys.publicKeyPem), writeFile(certificate.certFile, cert), writeFile(certificate.keyFile, privateKey)]);
  return { token: createTokenIssuer(keys).issue(createTestGrant({ id: 'usr_1' })).token, key, certificate };
}

/** Starts the gateway with a feature. */
async function start({ name, env = {}, config, files = {}, headers = {}, load: options = {}, toBody = toQuery, head, patch }, urls) {
  const directory = await mkdtemp(join(home, 'feature-'));
  const supergraph = join(directory, 'supergraph.graphql');
  await writeFile(supergraph, compose(urls, head === undefined ? undefined : { head, patch }));
  const args = ['--supergraph', supergraph];
  if (config !== undefined) {
    const file = join(directory, 'trestle.yaml');
    await writeFile(file, config);
    args.push('--config', file);
  }
  const paths = {};
  for (const [variable, content] of Object.entries(files)) {
    paths[variable] = join(directory, `${variable}.json`);
    await writeFile(paths[variable], JSON.stringify(content));
  }
  const started = await processes.spawnAt(here('../../gateway/bin/trestle-gateway.mjs'), { args, env: { ...PLAIN, ...env, ...paths } });
  const origin = `${options.isSecure ? 'https' : 'http'}://127.0.0.1:${started.port}`;
  const jobs = scenes.map((scene) => ({
    url: `${origin}/graphql`,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(toBody(scene)),
    connections: CONNECTIONS,
    allowH2: options.allowH2,
  }));
  return { name, ...started, jobs };
}

function toQuery({ query, variables }) {
  return { query, variables };
}

/** Sends requests, so that code is compiled, and notes the rate, the length of responses, and the processes. Each worker gets as many as one process. */
async function warmUp(gateway) {
  gateway.pids = await processTree(gateway.pid);
  const workers = Math.max(1, gateway.pids.length - 1);
  for (const [i, { chain }] of scenes.entries()) {
    const job = gateway.jobs[i];
    const requests = (WARM_UP[chain] / 2) * workers;
    const { last } = await ask(load, { ...job, requests });
    const { data, errors } = JSON.parse(last);
    if (errors || !data) throw new Error(`${gateway.name} returned ${last.slice(0, 300)}`);
    const { milliseconds } = await ask(load, { ...job, requests });
    Object.assign(job, { perSecond: (requests * 1000) / milliseconds, expected: Buffer.byteLength(last) });
  }
  gateway.pids = await processTree(gateway.pid);
}

/** Resolves with the CPU microseconds of each round, by scene. */
async function compare(base, own) {
  const results = [];
  for (const [i, { chain }] of scenes.entries()) {
    const requests = Math.ceil(base.jobs[i].perSecond * SECONDS_PER_ROUND);
    const rounds = [];
    // The first round does not count.
    for (let round = 0; round <= ROUNDS; round++) {
      const order = round % 2 === 0 ? [base, own] : [own, base];
      const times = new Map();
      for (const each of order) times.set(each, await measure(each, i, requests));
      if (round > 0) rounds.push({ base: times.get(base), own: times.get(own) });
    }
    results.push({ chain, rounds });
  }
  return results;
}

async function measure({ pids, jobs }, scene, requests) {
  const cpu = async () => (await Promise.all(pids.map(preciseCpuSeconds))).reduce((sum, each) => sum + each, 0);
  const before = await cpu();
  const { wrong } = await ask(load, { ...jobs[scene], requests });
  if (wrong > 0) throw new Error(`${wrong} wrong responses`);
  return (((await cpu()) - before) * 1e6) / requests;
}

function quantile(values, share) {
  return values.toSorted((a, b) => a - b)[Math.round((values.length - 1) * share)];
}

function toRow({ feature: { name, setting, against }, results }) {
  const cells = results.flatMap(({ rounds }) => {
    const added = rounds.map(({ base, own }) => own - base);
    const of = (share) => quantile(added, share).toFixed(1);
    const ratio = quantile(
      rounds.map(({ base, own }) => own / base),
      0.5,
    );
    return [`${of(0.5)} µs (${of(0.25)} to ${of(0.75)})`, ratio.toFixed(2)];
  });
  return `| ${name}${against === 'token' ? ' ¹' : ''} | ${setting} | ${cells.join(' | ')} |`;
}

async function report(rows) {
  const medians = scenes.map((_, i) =>
    quantile(
      rows.filter(({ feature }) => feature.against === undefined).flatMap(({ results }) => results[i].rounds.map(({ base }) => base)),
      0.5,
    ),
  );
  const lines = [
    `Without any of them a request takes ${medians.map((each, i) => `${each.toFixed(0)} µs in scene (${scenes[i].chain})`).join(' and ')}. The middle half of ${ROUNDS} rounds is in parentheses.`,
    `Machine: ${cpus().length} × ${cpus()[0].model}, Node ${process.version}, ${new Date().toISOString().slice(0, 10)}, load average ${loadavg()[1].toFixed(1)}.`,
    '',
    '| feature | setting | (a): added | (a): ratio | (b): added | (b): ratio |',
    '| - | - | -: | -: | -: | -: |',
    ...rows.map(toRow),
    '',
    '¹ compared with a gateway that checks tokens.',
  ];
  console.log(`\n${lines.join('\n')}`);
  if (isQuick || only) {
    console.log('\ndocs/gateway/costs.md is unchanged: this run is not a whole one.');
    return;
  }
  const text = await readFile(PAGE, 'utf8');
  const [start, end] = ['<!-- features -->', '<!-- /features -->'];
  const written = `${text.slice(0, text.indexOf(start))}${start}\n\n${lines.join('\n')}\n\n${text.slice(text.indexOf(end))}`;
  await writeFile(PAGE, await format(written, { ...(await resolveConfig(fileURLToPath(PAGE))), parser: 'markdown' }));
}
