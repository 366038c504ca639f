/** `npm run bench:scale`: compares the latency of lists with a million rows and with ten thousand rows. */
import { startStack } from '../../e2e/dist/stack/stack.js';
import { withPostgres } from '../postgres.mjs';
import { EXCEPTED, listCases } from './cases.mjs';
import { EXPLAIN_FLAGS, createPlans } from './plans.mjs';
import { fill, someUser } from './rows.mjs';

const SMALL = 10_000;
const BIG = Number(/--rows=(\d+)/.exec(process.argv.join(' '))?.[1] ?? 1_000_000);
const REPEATS = 25;
const LIMIT = 2;
const FLAGS = [
  '-c',
  'fsync=off',
  '-c',
  'synchronous_commit=off',
  '-c',
  'max_wal_size=4GB',
  '-c',
  'shared_buffers=1GB',
  '-c',
  'maintenance_work_mem=512MB',
];

const faults = [];
const plans = createPlans();
await withPostgres({ flags: [...FLAGS, ...EXPLAIN_FLAGS], onLog: plans.onLog }, async () => {
  const [small, big] = [await open(SMALL), await open(BIG)];
  try {
    const sides = [small, big];
    console.log(`p50 in ms among ${String(SMALL)} and among ${String(BIG)} rows, and their ratio; at most ${String(LIMIT)}×`);
    for (const { path, isDeep } of listCases('{user}')) {
      const urls = await Promise.all(sides.map((side) => side.urlOf(path, isDeep)));
      show(`${path}${isDeep ? ' (deep)' : ''}`, await compare(sides, urls), { isLimited: true });
    }
    for (const path of EXCEPTED) show(path, await compare(sides, [path, path]), { isLimited: false });
    await plans.turnOn(big.stack);
    for (const { path, isDeep } of listCases('{user}'))
      await plan(big, { url: await big.urlOf(path, isDeep), name: path, showsTotal: false });
    for (const path of EXCEPTED) await plan(big, { url: path, name: path, showsTotal: true });
  } finally {
    await Promise.all([small, big].map(({ stack }) => stack.stop()));
  }
});
console.log(faults.length === 0 ? 'holds: every list, every plan' : `FAILS:\n  ${faults.join('\n  ')}`);
if (faults.length > 0) process.exitCode = 1;

async function open(rows) {
  const stack = await startStack();
  const started = performance.now();
  await fill(stack, rows);
  console.log(`${String(rows)} accounts, orders and posts in ${((performance.now() - started) / 1000).toFixed(0)} s`);
  const { token } = await stack.createAccount('Root', 'ADMIN');
  const ask = async (path) => {
    const response = await fetch(`${stack.rest}/v1${path}`, { headers: { authorization: `Bearer ${token}` } });
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${path}: ${String(response.status)} ${text}`);
    return JSON.parse(text);
  };
  const urlOf = async (path, isDeep) => {
    const own = path.replaceAll('{user}', someUser(rows));
    if (!isDeep) return own;
    // The page in the middle is found once by its number; the measured request uses its cursor.
    const total = (await ask(`${own}&page=1&limit=1`)).pagination.total;
    const { pagination } = await ask(
      `${own}&page=${String(Math.max(1, Math.min(9999, Math.floor(total / 200))))}&limit=${total > 400 ? '100' : '1'}`,
    );
    if (pagination.nextCursor === null) throw new Error(`${own} has no page in the middle`);
    return `${own}&cursor=${pagination.nextCursor}`;
  };
  return { stack, ask, urlOf };
}

/** Measures both systems alternately, so that noise affects them equally, after three rounds to warm up. */
async function compare(sides, urls) {
  const times = sides.map(() => []);
  for (let i = -3; i < REPEATS; i++) {
    for (const [side, { ask }] of sides.entries()) {
      const started = performance.now();
      await ask(urls[side]);
      if (i >= 0) times[side].push(performance.now() - started);
    }
  }
  return times.map((all) => all.toSorted((a, b) => a - b)[Math.floor(REPEATS / 2)]);
}

function show(name, [small, big], { isLimited }) {
  const ratio = big / small;
  const verdict = !isLimited ? 'excepted' : ratio <= LIMIT ? '' : 'TOO SLOW';
  console.log(`  ${small.toFixed(1).padStart(7)} ${big.toFixed(1).padStart(8)} ${ratio.toFixed(2).padStart(6)}×  ${name} ${verdict}`);
  if (isLimited && ratio > LIMIT) faults.push(`${name} is ${ratio.toFixed(1)}× slower`);
}

async function plan({ stack, ask }, { url, name, showsTotal }) {
  const found = await plans.explain(stack, { showsTotal }, () => ask(url));
  faults.push(...found.map((fault) => `${name} ${fault}`));
}
