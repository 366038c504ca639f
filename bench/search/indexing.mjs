/** Measures how the search index keeps up: how far it is behind posts that are being written, and how long `npm run search:rebuild` takes. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { wordOf } from './rows.mjs';

/** Posts a second that are inserted into the database; `undefined`: as many as 32 clients of the bridge can write. */
const RATES = [undefined, 100, 300, 1000];
const CLIENTS = 32;
const WRITE_MS = 20_000;
const TICK_MS = 50;
/** An index that is further behind than this has failed; what is left is not waited for. */
const GIVE_UP_MS = 120_000;
const POLL_MS = 20;
const REBUILD = fileURLToPath(new URL('../../subgraphs/content/dist/search-rebuild/main.js', import.meta.url));

const quantile = (numbers, q) => numbers[Math.min(numbers.length - 1, Math.floor(numbers.length * q))] ?? NaN;

/** Writes posts at several rates. Resolves with the lag of each in milliseconds: from the acknowledgement of a post until the index has it. */
export async function measureLag(options) {
  const rows = [];
  for (const rate of RATES) rows.push(await measureRate({ ...options, rate }));
  return rows;
}

async function measureRate({ stack, token, rate }) {
  const written = createWritten(stack);
  const began = performance.now();
  const until = began + WRITE_MS;
  const polling = written.poll();
  let perSecond;
  try {
    await (rate === undefined ? writeByClients({ stack, token, until, written }) : insertAtRate({ stack, rate, until, written }));
    perSecond = (written.count() * 1000) / (performance.now() - began);
  } finally {
    written.end();
  }
  const lags = (await polling).sort((a, b) => a - b);
  const row = {
    rate,
    perSecond,
    p50: quantile(lags, 0.5),
    p99: quantile(lags, 0.99),
    max: lags.at(-1),
    lost: written.count() - lags.length,
  };
  console.log(
    `${rate === undefined ? `${String(CLIENTS)} clients` : `${String(rate)}/s inserted`}: ${perSecond.toFixed(0)} posts/s, lag p50 ${row.p50.toFixed(0)} p99 ${row.p99.toFixed(0)} max ${row.max.toFixed(0)} ms, ${String(row.lost)} not indexed`,
  );
  return row;
}

/** Returns the posts that were written, and a poll that resolves with the lags of all when writing has ended and the index has them. */
function createWritten({ sql }) {
  const pending = new Map();
  let count = 0;
  let endedAt;
  return {
    add(id) {
      pending.set(id, performance.now());
      count++;
    },
    count: () => count,
    end() {
      endedAt = performance.now();
    },
    async poll() {
      const lags = [];
      while (endedAt === undefined || pending.size > 0) {
        // The oldest are indexed first.
        const oldest = [...pending.keys()].slice(0, 2000);
        const found = await sql('content', 'SELECT id FROM search_documents WHERE id = ANY($1::text[])', [oldest]);
        const now = performance.now();
        for (const { id } of found) {
          lags.push(now - pending.get(id));
          pending.delete(id);
        }
        if (endedAt !== undefined && now - endedAt > GIVE_UP_MS) break;
        await delay(POLL_MS);
      }
      return lags;
    },
  };
}

const textOf = (number, length) => Array.from({ length }, (_, i) => wordOf(1 + ((number * 37 + i * i * 101) % 40_000))).join(' ');

async function writeByClients({ stack, token, until, written }) {
  let number = 0;
  const write = async () => {
    while (performance.now() < until) {
      const body = { title: textOf(number, 5), body: textOf(number++, 40), status: 'published' };
      const response = await fetch(`${stack.rest}/v1/posts`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      const reply = await response.json();
      if (response.status !== 201) throw new Error(`POST /v1/posts: ${String(response.status)} ${JSON.stringify(reply)}`);
      written.add(reply.id);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, write));
}

/** Each tick inserts its share by one statement. A tick that is late does not slow down the rate. */
async function insertAtRate({ stack: { sql }, rate, until, written }) {
  const began = performance.now();
  for (let count = 0, now = began; now < until; now = performance.now()) {
    const due = Math.floor(((now - began) * rate) / 1000) - count;
    if (due > 0) {
      const numbers = Array.from({ length: due }, (_, i) => count + i);
      const posts = numbers.map((each) => [
        `pst_${String(rate)}_${String(each)}_${String(Math.floor(began))}`,
        textOf(each, 5),
        textOf(each, 40),
      ]);
      await sql(
        'content',
        `INSERT INTO posts (id, "authorId", title, body, status)
         SELECT p.id, 'usr_1', p.title, p.body, 'PUBLISHED' FROM unnest($1::text[], $2::text[], $3::text[]) p(id, title, body)`,
        [0, 1, 2].map((column) => posts.map((post) => post[column])),
      );
      for (const [id] of posts) written.add(id);
      count += due;
    }
    await delay(TICK_MS);
  }
}

/** Runs the command, and searches all the time. Resolves with its seconds and the times of the searches in milliseconds. */
export async function measureRebuild({ stack, token, url }) {
  const began = performance.now();
  const child = spawn(process.execPath, [REBUILD], {
    env: { PATH: process.env.PATH, CONTENT_DATABASE_URL: url },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  let isDone = false;
  const exited = once(child, 'exit').finally(() => {
    isDone = true;
  });
  const times = [];
  let failures = 0;
  for (let round = 0; !isDone; round++) {
    const start = performance.now();
    const response = await fetch(`${stack.rest}/v1/search?limit=10&q=${wordOf(80 + (round % 400))}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const { data } = await response.json();
    if (response.status !== 200 || data.length === 0) failures++;
    times.push(performance.now() - start);
    await delay(200);
  }
  const [code] = await exited;
  if (code !== 0) throw new Error(`search:rebuild has failed with the exit code ${String(code)}.`);
  const seconds = (performance.now() - began) / 1000;
  times.sort((a, b) => a - b);
  const row = { seconds, searches: times.length, failures, p50: quantile(times, 0.5), p95: quantile(times, 0.95), max: times.at(-1) };
  console.log(
    `rebuild: ${seconds.toFixed(0)} s; ${String(times.length)} searches meanwhile, ${String(failures)} failed, p50 ${row.p50.toFixed(0)} p95 ${row.p95.toFixed(0)} max ${row.max.toFixed(0)} ms`,
  );
  return row;
}
