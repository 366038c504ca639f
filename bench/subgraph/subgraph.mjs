/** `npm run bench:subgraph`: the CPU time of a request to a subgraph without its database, with and without Apollo Server and Express. */
import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { Pool } from 'undici';

const ROUNDS = 7;
const REQUESTS = 8000;
const CONNECTIONS = 16;
const TICKS_PER_SECOND = Number(execFileSync('getconf', ['CLK_TCK']).toString());
const SCENES = {
  'one product': { query: 'query ($id: ID!) { product(id: $id) { id name price } }', variables: { id: 'prd_1' } },
  '50 products': { query: '{ products(first: 50) { id name price } }' },
};
const SERVERS = { express: 'Apollo Server in Express', apollo: 'Apollo Server', graphql: 'graphql-js, parsed once' };

const child = fork(fileURLToPath(new URL('servers.mjs', import.meta.url)));
try {
  const [ports] = await once(child, 'message');
  const costs = new Map();
  // The first round is a warm-up and is not counted.
  for (let round = 0; round <= ROUNDS; round++)
    for (const [scene, body] of Object.entries(SCENES))
      for (const server of Object.keys(SERVERS)) {
        const cost = await measure(ports[server], JSON.stringify(body));
        const key = `${scene} ${server}`;
        if (round > 0) costs.set(key, [...(costs.get(key) ?? []), cost]);
      }
  for (const scene of Object.keys(SCENES))
    for (const [server, name] of Object.entries(SERVERS)) console.log(toRow({ scene, name, costs: costs.get(`${scene} ${server}`) }));
} finally {
  child.kill();
}

/** Returns seconds of CPU for a request. */
async function measure(port, body) {
  const pool = new Pool(`http://127.0.0.1:${String(port)}`, { connections: CONNECTIONS });
  const before = await readCpu();
  let left = REQUESTS;
  const work = async () => {
    while (left-- > 0) {
      const response = await pool.request({ method: 'POST', path: '/graphql', headers: { 'content-type': 'application/json' }, body });
      const text = await response.body.text();
      if (!text.startsWith('{"data":')) throw new Error(`A wrong response: ${text.slice(0, 200)}`);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, work));
  const after = await readCpu();
  await pool.close();
  return (after - before) / REQUESTS;
}

async function readCpu() {
  const fields = (await readFile(`/proc/${String(child.pid)}/stat`, 'utf8')).split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

function toRow({ scene, name, costs }) {
  const sorted = costs.map((cost) => cost * 1e6).sort((a, b) => a - b);
  const [median, least, most] = [sorted[Math.floor(sorted.length / 2)], sorted[0], sorted.at(-1)].map((value) => value.toFixed(0));
  return `${scene.padEnd(12)} ${name.padEnd(26)} ${median.padStart(5)} µs   (${least} to ${most})`;
}
