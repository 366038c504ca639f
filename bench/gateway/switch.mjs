/**
 * `npm run bench:switch`: how long the first requests wait after another supergraph is served, with and without planning before the switch. 100
 * operations over up to 8 subgraphs are in use. Each round replaces the supergraph once for each gateway.
 */
import { spawn } from 'node:child_process';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { composeServices } from '@apollo/composition';
import { parse } from 'graphql';
import { Pool } from 'undici';

const [SUBGRAPHS, TYPES, OPERATIONS, ROUNDS] = [10, 50, 100, 5];
const LINK = 'extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key"])';
const home = await mkdtemp(join(tmpdir(), 'trestle-switch-'));
const upstream = createServer(async (request, response) => {
  let text = '';
  for await (const chunk of request) text += chunk;
  const field = /(s\d+)\s*\{/.exec(text)?.[1];
  response.setHeader('content-type', 'application/json');
  response.end(
    text.includes('_entities')
      ? `{"data":{"_entities":[{"${field}":{"__typename":"S${field.slice(1)}T0","id":"1"}}]}}`
      : '{"data":{"s0t0":{"__typename":"S0T0","id":"1"}}}',
  );
});
await new Promise((resolve) => upstream.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${upstream.address().port}/graphql`;
/** Operations of 1 to 8 fetches. */
const queries = Array.from({ length: OPERATIONS }, (_, i) => {
  const depth = i % 8;
  const inner = Array.from({ length: depth }, (_, level) => `s${level + 1} { id `).join('');
  return `query Operation${i} { s0t0 { id ${inner}${'}'.repeat(depth)} } }`;
});

try {
  const sdl = compose();
  for (const operations of [0, 200]) {
    const latencies = [];
    const usual = [];
    const file = join(home, `${operations}.graphql`);
    await writeFile(file, sdl);
    const gateway = await start(file, operations);
    for (let round = 1; round <= ROUNDS; round++) {
      usual.push(...(await send(gateway.pool, 1)).slice());
      const before = await gateway.hash();
      await writeFile(`${file}.next`, `${sdl}\n# ${round}`);
      await rename(`${file}.next`, file);
      while ((await gateway.hash()) === before) await pause(2);
      latencies.push(...(await send(gateway.pool, 1)));
    }
    print(`usual, ${operations} planned before a switch`, usual.slice(OPERATIONS));
    print(`after, ${operations} planned before a switch`, latencies);
    await gateway.stop();
  }
} finally {
  upstream.closeAllConnections();
  upstream.close();
  await rm(home, { recursive: true, force: true });
}

async function start(file, operations) {
  const main = fileURLToPath(new URL('../../gateway/bin/trestle-gateway.mjs', import.meta.url));
  const env = { ...process.env, WARM_UP_OPERATIONS: String(operations) };
  const child = spawn(process.execPath, [main, '--supergraph', file, '--port', '0', '--auth', 'off'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env,
  });
  let output = '';
  const port = await new Promise((resolve) => {
    child.stdout.on('data', (chunk) => {
      if (output.length < 65_536) output += chunk.toString();
      const found = /"port":(\d+)/.exec(output)?.[1];
      if (found) resolve(Number(found));
    });
  });
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: 4 });
  return {
    pool,
    hash: async () => JSON.parse(await (await pool.request({ method: 'GET', path: '/readyz' })).body.text()).supergraph,
    stop: async () => {
      await pool.close();
      child.kill('SIGKILL');
    },
  };
}

/** Sends each operation `times` times, two requests at a time. */
async function send(pool, times) {
  const waiting = Array.from({ length: times }, () => queries).flat();
  const latencies = [];
  const work = async () => {
    for (let query = waiting.pop(); query !== undefined; query = waiting.pop()) {
      const started = performance.now();
      const headers = { 'content-type': 'application/json' };
      const { body } = await pool.request({ method: 'POST', path: '/graphql', headers, body: JSON.stringify({ query }) });
      const text = await body.text();
      latencies.push(performance.now() - started);
      if (text.includes('errors')) throw new Error(text.slice(0, 500));
      await pause(1);
    }
  };
  await Promise.all([work(), work()]);
  return latencies;
}

function print(name, latencies) {
  latencies.sort((a, b) => a - b);
  const at = (share) => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))].toFixed(1);
  console.log(`${name}: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, most ${at(1)} ms, of ${latencies.length}`);
}

function compose() {
  const services = Array.from({ length: SUBGRAPHS }, (_, s) => {
    const types = Array.from(
      { length: TYPES },
      (_, t) => `type S${s}T${t} @key(fields: "id") { id: ID! name: String f1: Int f2: [String!] }`,
    );
    const foreign = s > 0 ? `type S${s - 1}T0 @key(fields: "id") { id: ID! s${s}: S${s}T0 }` : '';
    return { name: `s${s}`, url, typeDefs: parse(`${LINK} ${types.join('\n')} ${foreign} type Query { s${s}t0: S${s}T0 }`) };
  });
  const { supergraphSdl, errors } = composeServices(services);
  if (errors) throw new Error(errors[0].message);
  return supergraphSdl;
}
