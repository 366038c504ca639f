/**
 * `npm run bench:search`: the time of searches among a million posts, through bridge, gateway and subgraph; how far the index is behind; the
 * time of a rebuild. `--only=searches|lag|rebuild` measures one of them, `--path=/products` only the searches of one list. `--rows=N` makes N
 * posts, `--keep=DIRECTORY` keeps the database for the next run, `--write` writes RESULTS.md. `--rates=50,200` names the posts a second of the
 * lag (the first one is that of a rebuild), `--durable` has the server flush its log at each commit, as a deployment does.
 */
import { loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { withClient } from '@trestle/postgres/client';
import { applyMigrations, ensureDatabase } from '@trestle/postgres/migrate';
import { startStack } from '../../e2e/dist/stack/stack.js';
import { withPostgres } from '../postgres.mjs';
import { writeSection } from '../results.mjs';
import { measureLag } from './indexing.mjs';
import { measureRebuild } from './rebuild.mjs';
import { fillContent, fillOrders, wordOf } from './rows.mjs';

const optionOf = (option) => new RegExp(`^--${option}=(.+)$`, 'm').exec(process.argv.join('\n'))?.[1];
const ROWS = Number(optionOf('rows') ?? 1_000_000);
const PRODUCTS = ROWS / 10;
const ROUNDS = 40;
const LIMIT_MS = 100;
const RATES = optionOf('rates')?.split(',').map(Number);
/** Posts a second that are written while the index is rebuilt. */
const REBUILD_RATE = 50;
const FLAGS = [
  ...(process.argv.includes('--durable') ? [] : ['fsync=off', 'synchronous_commit=off']),
  'max_wal_size=8GB',
  'shared_buffers=1GB',
  'maintenance_work_mem=512MB',
  'jit=off',
].flatMap((flag) => ['-c', flag]);

/** By kind, the query of a round: other words each time, so that no response is repeated. */
const QUERIES = {
  'common word (1 of 3 posts)': (round) => wordOf(1 + (round % 10)),
  'usual word (1 of 50 posts)': (round) => wordOf(80 + round),
  'rare word': (round) => wordOf(20_000 + round * 97),
  'two usual words': (round) => `${wordOf(20 + round)} ${wordOf(40 + round)}`,
  'common or usual word': (round) => `${wordOf(2 + (round % 8))} or ${wordOf(100 + round)}`,
  'prefix of 3 letters': (round) => wordOf(1 + round * 31).slice(0, 3),
  'prefix of 5 letters': (round) => wordOf(50 + round * 31).slice(0, 5),
  'misspelt usual word': (round) => swapped(wordOf(80 + round)),
  'misspelt rare word': (round) => swapped(wordOf(20_000 + round * 97)),
  'phrase of usual words': (round) => `"${wordOf(3 + (round % 20))} ${wordOf(5 + (round % 20))}"`,
  'phrase with stop words': (round) => `"${wordOf(3 + round)} the and of"`,
  'usual word without a common one': (round) => `${wordOf(80 + round)} -${wordOf(2)}`,
  'stop words': (round) => ['the', 'and of', 'to'][round % 3],
};

const PATHS = ['/search?limit=10&cursor=', '/posts?limit=10&cursor=', '/products?limit=10&cursor='].filter((path) =>
  path.startsWith(optionOf('path') ?? '/'),
);
/** The index is at most so far behind. */
const MAX_LAG_MS = 2000;
const isMeasured = (part) => (optionOf('only') ?? part) === part;

await withPostgres({ flags: FLAGS, keep: optionOf('keep') }, async (server) => {
  const databases = {
    content: await openFilled(server, { subgraph: 'content', rows: ROWS, fill: fillContent }),
    orders: await openFilled(server, { subgraph: 'orders', rows: PRODUCTS, fill: fillOrders }),
  };
  const stack = await startStack({ databases });
  try {
    const { token } = await stack.createAccount('Root', 'ADMIN');
    if (isMeasured('searches')) await measureSearches({ stack, token });
    if (isMeasured('lag')) await reportLag(await measureLag({ stack, token, rates: RATES }));
    if (isMeasured('rebuild'))
      await reportRebuild(await measureRebuild({ stack, token, url: databases.content.url, rate: RATES?.[0] ?? REBUILD_RATE }));
  } finally {
    await stack.stop();
  }
});

/** Returns the database of a subgraph with so many rows. It is filled unless an earlier run has kept it. */
async function openFilled(server, { subgraph, rows, fill }) {
  const url = server.url(`bench_search_${subgraph}_${String(rows)}`);
  await ensureDatabase({ url });
  await applyMigrations({ url, directory: fileURLToPath(new URL(`../../prisma/${subgraph}/migrations`, import.meta.url)) });
  await withClient(url, async (client) => {
    const sql = async (statement) => (await client.query(statement)).rows;
    await sql('CREATE TABLE IF NOT EXISTS bench_filled (at timestamptz)');
    if ((await sql('SELECT FROM bench_filled')).length > 0) {
      if (subgraph === 'content') await forgetOthers(sql);
      return;
    }
    const started = performance.now();
    await fill(sql, rows);
    await sql('INSERT INTO bench_filled VALUES (now())');
    console.log(`${subgraph}: ${String(rows)} rows in ${((performance.now() - started) / 1000).toFixed(0)} s`);
  });
  // Its server is stopped, and its files are removed unless they are kept.
  return { url, drop: () => Promise.resolve() };
}

/** The databases of the other subgraphs are new ones: their events begin again, for which the index would be built anew. */
async function forgetOthers(sql) {
  await sql(`UPDATE feed_positions SET position = NULL WHERE source <> 'content'`);
  await sql('UPDATE search_builds SET "builtAt" = clock_timestamp()');
}

async function measureSearches(system) {
  const rows = [];
  for (const path of PATHS)
    for (const [kind, queryOf] of Object.entries(QUERIES)) rows.push(await measure({ ...system, path, kind, queryOf }));
  await report(rows);
}

async function measure({ stack, token, path, kind, queryOf }) {
  const times = [];
  let found = 0;
  for (let round = -3; round < ROUNDS; round++) {
    const address = `${stack.rest}/v1${path}&q=${encodeURIComponent(queryOf(round + 3))}`;
    const began = performance.now();
    const response = await fetch(address, { headers: { authorization: `Bearer ${token}` } });
    const { data } = await response.json();
    const time = performance.now() - began;
    if (response.status !== 200) throw new Error(`${address}: ${String(response.status)}`);
    if (round >= 0) times.push(time);
    found += data.length;
  }
  times.sort((a, b) => a - b);
  const row = { path, kind, p50: times[Math.floor(ROUNDS * 0.5)], p95: times[Math.ceil(ROUNDS * 0.95) - 1], found: found / (ROUNDS + 3) };
  console.log(`${path} ${kind}: p50 ${row.p50.toFixed(1)} p95 ${row.p95.toFixed(1)} ms, ${row.found.toFixed(1)} results`);
  return row;
}

const readLoad = () =>
  loadavg()
    .map((each) => each.toFixed(1))
    .join(', ');

async function reportLag(rows) {
  const isLate = rows.some(({ max, lost }) => max > MAX_LAG_MS || lost > 0);
  console.log(isLate ? `FAILS: the index is more than ${String(MAX_LAG_MS)} ms behind` : 'holds');
  if (isLate) process.exitCode = 1;
  if (!process.argv.includes('--write')) return;
  const lines = [
    '',
    `${ROWS.toLocaleString('en')} posts in the index; load average at the end: ${readLoad()}. The lag is the time from the response to a write until`,
    `the index has the post, of every post that was written in 20 s. The goal is ${String(MAX_LAG_MS)} ms.`,
    '',
    '| writers | posts/s | p50, ms | p99, ms | max, ms |',
    '| --- | --- | --- | --- | --- |',
    ...rows.map(
      ({ rate, perSecond, p50, p99, max }) =>
        `| ${rate === undefined ? '32 clients, `POST /v1/posts`' : `${rate.toLocaleString('en')} posts/s inserted by SQL`} | ${[perSecond, p50, p99, max].map((each) => each.toFixed(0)).join(' | ')} |`,
    ),
  ];
  await writeSection('How far the search index is behind', { command: 'npm run bench:search -- --only=lag', lines });
}

async function reportRebuild({ seconds, rate, searches, failures, writes, lags, lost, indexMb, extraMb, walMb }) {
  if (failures > 0 || lost > 0) process.exitCode = 1;
  if (!process.argv.includes('--write')) return;
  const times = ({ p50, p95, max }) => `p50 ${p50.toFixed(0)} ms, p95 ${p95.toFixed(0)} ms, max ${max.toFixed(0)} ms`;
  const lines = [
    '',
    `${ROWS.toLocaleString('en')} posts; load average at the end: ${readLoad()}. \`npm run search:rebuild\` took ${seconds.toFixed(0)} s. Of`,
    `${String(searches.count)} searches meanwhile ${String(failures)} failed or found nothing: ${times(searches)}. ${String(rate)} posts a second`,
    `were written, by statements of ${times(writes)}. The index was behind by ${times(lags)}; ${String(lost)} posts are not in it. It has`,
    `${indexMb.toFixed(0)} MB. While it was built the database was up to ${extraMb.toFixed(0)} MB larger, and the log of the server grew by`,
    `${walMb.toFixed(0)} MB.`,
  ];
  await writeSection('How long a rebuild of the search index takes', { command: 'npm run bench:search -- --only=rebuild', lines });
}

async function report(rows) {
  const late = rows.filter(({ p95 }) => p95 > LIMIT_MS);
  console.log(late.length === 0 ? 'holds' : `FAILS: p95 beyond ${String(LIMIT_MS)} ms`);
  if (late.length > 0) process.exitCode = 1;
  if (!process.argv.includes('--write')) return;
  const tables = PATHS.flatMap((path) => [
    '',
    `| \`GET /v1${path.replace('&cursor=', '')}\` | p50, ms | p95, ms | results |`,
    '| --- | --- | --- | --- |',
    ...rows
      .filter((row) => row.path === path)
      .map(({ kind, p50, p95, found }) => `| ${kind} | ${p50.toFixed(1)} | ${p95.toFixed(1)} | ${found.toFixed(1)} |`),
  ]);
  const lines = [
    '',
    `${ROWS.toLocaleString('en')} posts, ${PRODUCTS.toLocaleString('en')} products; load average at the end: ${readLoad()}. The goal is a p95 of`,
    `${String(LIMIT_MS)} ms.`,
    ...tables,
  ];
  await writeSection('How long searches take', { command: 'npm run bench:search', lines });
}

/** Returns the word with two letters swapped. */
function swapped(word) {
  return word.slice(0, 3) + word[4] + word[3] + word.slice(5);
}
