/** Measures `npm run search:rebuild`: how long it takes, and what searches and writes notice of it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createWritten, insertAtRate, quantile } from './indexing.mjs';
import { wordOf } from './rows.mjs';

const REBUILD = fileURLToPath(new URL('../../subgraphs/content/dist/search-rebuild/main.js', import.meta.url));
const PAUSE_MS = 200;
const MB = 1024 * 1024;

/**
 * Runs the command, searches all the time, and inserts `rate` posts a second. Resolves with its seconds, the times of the searches and of the
 * inserting statements in milliseconds, how far the index was behind, and what the disk had to hold.
 */
export async function measureRebuild({ stack, token, url, rate }) {
  const [before] = await readSizes(stack);
  const began = performance.now();
  const child = spawn(process.execPath, [REBUILD], {
    env: { PATH: process.env.PATH, CONTENT_DATABASE_URL: url },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  let isDone = false;
  const exited = once(child, 'exit').finally(() => {
    isDone = true;
  });
  const isOver = () => isDone;
  const written = createWritten(stack);
  const polling = written.poll();
  const [searches, writes, largest] = await Promise.all([
    searchUntil(isOver, { stack, token }),
    insertAtRate({ stack, rate, isOver, written }),
    watchSize(isOver, stack),
  ]).finally(written.end);
  const [code] = await exited;
  const seconds = (performance.now() - began) / 1000;
  if (code !== 0) throw new Error(`search:rebuild has failed with the exit code ${String(code)}.`);
  const lags = await polling;
  const [after] = await readSizes(stack);
  const row = {
    ...{ seconds, rate, searches: summarize(searches.times), failures: searches.failures },
    ...{ writes: summarize(writes), lags: summarize(lags), lost: written.count() - lags.length },
    ...{ indexMb: after.index / MB, extraMb: (largest - before.database) / MB, walMb: (after.wal - before.wal) / MB },
  };
  console.log(`rebuild: ${JSON.stringify(row, (_, value) => (typeof value === 'number' ? Math.round(value) : value))}`);
  return row;
}

/** Searches one after the other. A search fails when it is not answered with results. */
async function searchUntil(isOver, { stack, token }) {
  const times = [];
  let failures = 0;
  for (let round = 0; !isOver(); round++) {
    const start = performance.now();
    const response = await fetch(`${stack.rest}/v1/search?limit=10&q=${wordOf(80 + (round % 400))}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const { data } = await response.json();
    if (response.status !== 200 || data.length === 0) failures++;
    times.push(performance.now() - start);
    await delay(PAUSE_MS);
  }
  return { times, failures };
}

/** Resolves with the largest size that the database had, in bytes. */
async function watchSize(isOver, stack) {
  let largest = 0;
  while (!isOver()) {
    const [{ database }] = await readSizes(stack);
    largest = Math.max(largest, database);
    await delay(5 * PAUSE_MS);
  }
  return largest;
}

/** Sizes in bytes; `wal` is how much has been written to the log of the server since it was created. */
function readSizes({ sql }) {
  return sql(
    'content',
    `SELECT pg_database_size(current_database())::float8 AS "database", (pg_current_wal_lsn() - '0/0')::float8 AS "wal",
       pg_total_relation_size(to_regclass('search_documents'))::float8 AS "index"`,
  );
}

function summarize(times) {
  const sorted = [...times].sort((a, b) => a - b);
  return { count: sorted.length, p50: quantile(sorted, 0.5), p95: quantile(sorted, 0.95), max: sorted.at(-1) ?? NaN };
}
