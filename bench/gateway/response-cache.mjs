/**
 * `npm run bench:cache`: hit ratio of the response cache and of the entity cache, and CPU time of the gateway's process, on a trace of reads and writes:
 * clients read products by popularity (Zipf), one or five at a time, and some of them change one and read it again. No read may be older than the
 * client's own change.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { composeServices } from '@apollo/composition';
import { parse } from 'graphql';
import { Pool } from 'undici';
import { MEASURED, cpuSeconds, createProcesses } from '../processes.mjs';

const isQuick = process.argv.includes('--quick');
const REQUESTS = isQuick ? 4000 : 30_000;
const CLIENTS = 16;
const PRODUCTS = 1000;
const SHARES_OF_WRITES = [0, 0.01, 0.1];
const REDIS_URL = process.env.REDIS_URL ?? 'redis://127.0.0.1:6379';
const SETTINGS = [
  { name: 'off', env: {} },
  { name: 'memory', env: { RESPONSE_CACHE: 'memory', RESPONSE_CACHE_SHARING: 'all' } },
  { name: 'memory, entities', env: { RESPONSE_CACHE: 'memory', RESPONSE_CACHE_CONTENTS: 'entities', RESPONSE_CACHE_SHARING: 'all' } },
  { name: 'redis', env: { RESPONSE_CACHE: 'redis', RESPONSE_CACHE_SHARING: 'all', REDIS_URL, RESPONSE_CACHE_TIMEOUT_MS: '1000' } },
];

const CACHE_CONTROL = `
  extend schema
    @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key", "@composeDirective"])
    @link(url: "https://trestle.example/cacheControl/v0.1", import: ["@cacheControl"])
    @composeDirective(name: "@cacheControl")
  enum cacheControl__Scope { PUBLIC PRIVATE }
  directive @cacheControl(maxAge: Int, scope: cacheControl__Scope, inheritMaxAge: Boolean) on FIELD_DEFINITION | OBJECT | INTERFACE | UNION
`;
const NAMES = `${CACHE_CONTROL}
  type Query { product(id: ID!): Product products(ids: [ID!]!): [Product!]! @cacheControl(maxAge: 60) }
  type Mutation { rename(id: ID!, name: String!): Product }
  type Product @key(fields: "id") @cacheControl(maxAge: 60) { id: ID! name: String! text: String! }`;
const STOCKS = `${CACHE_CONTROL}
  type Product @key(fields: "id") { id: ID! price: Int! @cacheControl(maxAge: 60) stock: Int! @cacheControl(maxAge: 60) }`;
const READ = 'query Read($id: ID!) { product(id: $id) { id name text price stock } }';
const LIST = 'query List($ids: [ID!]!) { products(ids: $ids) { id price stock } }';
/** The share of reads that are lists, and their length. */
const SHARE_OF_LISTS = 0.25;
const LIST_LENGTH = 5;
const WRITE = 'mutation Write($id: ID!, $name: String!) { rename(id: $id, name: $name) { name } }';

const names = new Map();
/** Requests that subgraphs got. */
let fetches = 0;
const toProduct = (id) => ({ __typename: 'Product', id, name: names.get(id) ?? 'name', text: 'x'.repeat(500) });
const servers = [await serve(answerNames), await serve(answerStocks)];
const home = await mkdtemp(join(tmpdir(), 'trestle-bench-cache-'));
const processes = createProcesses();

try {
  const sdl = compose(servers.map(({ url }) => url));
  console.log(
    '| store | writes | hits of reads | requests to subgraphs per request | CPU time of the gateway per request |\n| --- | --- | --- | --- | --- |',
  );
  for (const share of SHARES_OF_WRITES) for (const setting of SETTINGS) await measure(sdl, setting, share);
} finally {
  processes.endAll();
  for (const { server } of servers) {
    server.closeAllConnections();
    server.close();
  }
  await rm(home, { recursive: true, force: true });
}

async function measure(sdl, { name, env }, share) {
  const supergraph = join(home, 'supergraph.graphql');
  // Another supergraph, so that Redis has no results of it.
  await writeFile(supergraph, `${sdl}\n# ${name} ${share} ${Date.now()}\n`);
  const main = fileURLToPath(new URL('../../gateway/bin/trestle-gateway.mjs', import.meta.url));
  const args = [main, '--supergraph', supergraph, '--port', '0', '--auth', 'off'];
  const { child, pid, port } = await processes.spawn(process.execPath, { args, env, core: MEASURED });
  child.removeAllListeners('exit');
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: CLIENTS });
  // Compiles what is used, and fills nothing that is read later: these products are not in the trace.
  await trace(pool, { requests: REQUESTS, share, from: PRODUCTS });
  const before = await cpuSeconds(pid);
  const fetchesBefore = fetches;
  const { hits, reads } = await trace(pool, { requests: REQUESTS, share, from: 0 });
  const microseconds = ((await cpuSeconds(pid)) - before) * (1e6 / REQUESTS);
  console.log(
    `| ${name} | ${share * 100} % | ${((hits / reads) * 100).toFixed(1)} % | ${((fetches - fetchesBefore) / REQUESTS).toFixed(2)} | ${microseconds.toFixed(0)} µs |`,
  );
  await pool.close();
  child.kill('SIGKILL');
}

async function trace(pool, { requests, share, from }) {
  const random = createRandom(1);
  const choose = createZipf(random);
  const count = { hits: 0, reads: 0 };
  let left = requests;
  let version = 0;
  await Promise.all(
    Array.from({ length: CLIENTS }, async (_, client) => {
      const own = new Map();
      while (left-- > 0) {
        const id = String(from + choose());
        if (random() < share) {
          const written = ++version;
          await send(pool, client, { query: WRITE, variables: { id, name: String(written) } });
          own.set(id, written);
        } else if (random() < SHARE_OF_LISTS) {
          const ids = Array.from({ length: LIST_LENGTH }, () => String(from + choose()));
          const { body, isHit } = await send(pool, client, { query: LIST, variables: { ids } });
          count.reads++;
          if (isHit) count.hits++;
          if (body.data.products.some(({ id, price }, i) => id !== ids[i] || price !== Number(id))) throw new Error('Another product');
        } else {
          const { body, isHit } = await send(pool, client, { query: READ, variables: { id } });
          count.reads++;
          if (isHit) count.hits++;
          const read = Number(body.data.product.name);
          if (read < (own.get(id) ?? 0)) throw new Error(`A read was older than the client's own change: ${read} < ${own.get(id)}`);
        }
      }
    }),
  );
  names.clear();
  return count;
}

async function send(pool, client, operation) {
  const headers = { 'content-type': 'application/json', authorization: `Basic client-${client}` };
  const { body, headers: received } = await pool.request({ method: 'POST', path: '/graphql', headers, body: JSON.stringify(operation) });
  return { body: await body.json(), isHit: received['cache-status']?.includes('hit') === true };
}

/** Returns a function that returns the number of a product, small ones more often. */
function createZipf(random) {
  const sums = [];
  for (let i = 0, sum = 0; i < PRODUCTS; i++) sums.push((sum += 1 / (i + 1)));
  return () => {
    const drawn = random() * sums.at(-1);
    return sums.findIndex((sum) => sum >= drawn);
  };
}

/** The same numbers in each run (mulberry32). */
function createRandom(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

function answerNames({ query, variables }) {
  if (variables.ids) return { products: variables.ids.map(toProduct) };
  if (!query.startsWith('mutation')) return { product: toProduct(variables.id) };
  // Changes may arrive in another order than they were sent.
  if (Number(variables.name) > Number(names.get(variables.id) ?? 0)) names.set(variables.id, variables.name);
  return { rename: toProduct(variables.id) };
}

function answerStocks({ variables }) {
  return { _entities: variables.representations.map(({ id }) => ({ __typename: 'Product', price: Number(id), stock: 3 })) };
}

async function serve(answer) {
  const server = createServer((request, response) => {
    fetches++;
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const data = answer(JSON.parse(Buffer.concat(chunks).toString()));
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ data }));
    });
  });
  server.keepAliveTimeout = 60_000;
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, url: `http://127.0.0.1:${server.address().port}/graphql` };
}

function compose([names, stocks]) {
  const { supergraphSdl, errors } = composeServices([
    { name: 'names', url: names, typeDefs: parse(NAMES) },
    { name: 'stocks', url: stocks, typeDefs: parse(STOCKS) },
  ]);
  if (errors) throw new Error(errors.join('\n'));
  return supergraphSdl;
}
