/**
 * `npm run bench:reload`: replaces a supergraph of 50 subgraphs × 100 types under load. No request may fail, and none may take 50 ms longer
 * than the 99th percentile without a reload.
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

const [SUBGRAPHS, TYPES] = process.argv.includes('--quick') ? [10, 20] : [50, 100];
const LINK = 'extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key"])';
const home = await mkdtemp(join(tmpdir(), 'trestle-reload-'));
const upstream = createServer((request, response) => {
  request.resume().on('end', () => response.end('{"data":{"s0t0":{"id":"1","name":"one"}}}'));
});
await new Promise((resolve) => upstream.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${upstream.address().port}/graphql`;
const file = join(home, 'supergraph.graphql');
let gateway;

try {
  const composed = performance.now();
  const sdl = compose();
  console.log(
    `${SUBGRAPHS} subgraphs × ${TYPES} types: ${(sdl.length / 1e6).toFixed(1)} MB, composed in ${((performance.now() - composed) / 1000).toFixed(1)} s`,
  );
  await writeFile(file, sdl);
  const started = performance.now();
  const main = fileURLToPath(new URL('../../gateway/bin/trestle-gateway.mjs', import.meta.url));
  gateway = spawn(process.execPath, [main, '--supergraph', file, '--port', '0', '--auth', 'off'], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  const port = await new Promise((resolve) => {
    gateway.stdout.on('data', (chunk) => {
      output += chunk.toString();
      const found = /"port":(\d+)/.exec(output)?.[1];
      if (found) resolve(Number(found));
    });
  });
  console.log(`ready after ${((performance.now() - started) / 1000).toFixed(1)} s`);
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: 16 });
  const hash = async () => JSON.parse(await (await pool.request({ method: 'GET', path: '/readyz' })).body.text()).supergraph;

  await measure(pool, () => false, 2000);
  const usual = await measure(pool, () => false, 10_000);
  const before = await hash();
  await writeFile(`${file}.next`, sdl.replace('type S0T1', '"""Another one."""\ntype S0T1'));
  await rename(`${file}.next`, file);
  const began = performance.now();
  let isSwapped = false;
  const watching = (async () => {
    while ((await hash()) === before) await pause(50);
    isSwapped = true;
    return performance.now() - began;
  })();
  const during = await measure(pool, () => isSwapped, Infinity);
  console.log(`usual:  p50 ${usual.p50} ms, p99 ${usual.p99} ms, most ${usual.most} ms, failed ${usual.failed} of ${usual.count}`);
  console.log(
    `a swap of ${((await watching) / 1000).toFixed(1)} s: p50 ${during.p50} ms, p99 ${during.p99} ms, most ${during.most} ms, failed ${during.failed} of ${during.count}`,
  );
  const holds = during.failed === 0 && during.most - usual.p99 <= 50;
  console.log(`${holds ? 'holds' : 'FAILS'}: nothing fails, and nothing waits 50 ms beyond the usual p99`);
  if (!holds) process.exitCode = 1;
  await pool.close();
} finally {
  gateway?.kill('SIGKILL');
  upstream.closeAllConnections();
  upstream.close();
  await rm(home, { recursive: true, force: true });
}

/** Sends four requests at a time, which do not saturate the machine, until `isOver` returns true or the time has passed. */
async function measure(pool, isOver, milliseconds) {
  const latencies = [];
  let failed = 0;
  const end = performance.now() + milliseconds;
  const body = JSON.stringify({ query: '{ s0t0 { id name } }' });
  const work = async () => {
    while (!isOver() && performance.now() < end) {
      const started = performance.now();
      const { statusCode, body: answer } = await pool.request({
        method: 'POST',
        path: '/graphql',
        headers: { 'content-type': 'application/json' },
        body,
      });
      const text = await answer.text();
      latencies.push(performance.now() - started);
      if (statusCode !== 200 || !text.includes('"one"')) failed++;
      await pause(1);
    }
  };
  await Promise.all(Array.from({ length: 4 }, work));
  latencies.sort((a, b) => a - b);
  const at = (share) => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))].toFixed(1);
  return { p50: at(0.5), p99: at(0.99), most: at(1), failed, count: latencies.length };
}

function compose() {
  const services = Array.from({ length: SUBGRAPHS }, (_, s) => {
    const types = Array.from(
      { length: TYPES },
      (_, t) => `type S${s}T${t} @key(fields: "id") { id: ID! name: String next: S${s}T${(t + 1) % TYPES} f1: Int f2: [String!] }`,
    );
    const roots = Array.from({ length: 5 }, (_, t) => `s${s}t${t}: S${s}T${t}`);
    const foreign = s > 0 ? `type S${s - 1}T0 @key(fields: "id") { id: ID! s${s}: S${s}T0 }` : '';
    return { name: `s${s}`, url, typeDefs: parse(`${LINK} ${types.join('\n')} ${foreign} type Query { ${roots.join(' ')} }`) };
  });
  const { supergraphSdl, errors } = composeServices(services);
  if (errors) throw new Error(errors[0].message);
  return supergraphSdl;
}
