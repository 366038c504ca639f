/** Measures how far the search index is behind posts that are being written. */
import { setTimeout as delay } from 'node:timers/promises';
import { wordOf } from './rows.mjs';

/** Posts a second that are inserted into the database; `undefined`: as many as 32 clients of the bridge can write. */
const RATES = [undefined, 100, 300, 1000];
const CLIENTS = 32;
const WRITE_MS = 20_000;
const TICK_MS = 50;
/** An index that is further behind than this has failed; what is left is not waited for. */
const GIVE_UP_MS = 120_000;
const POLL_MS = 20;

export const quantile = (numbers, q) => numbers[Math.min(numbers.length - 1, Math.floor(numbers.length * q))] ?? NaN;

/** Writes posts at several rates. Resolves with the lag of each in milliseconds: from the acknowledgement of a post until the index has it. */
export async function measureLag({ rates = RATES, ...options }) {
  const rows = [];
  for (const rate of rates) rows.push(await measureRate({ ...options, rate }));
  return rows;
}

async function measureRate({ stack, token, rate }) {
  const written = createWritten(stack);
  const began = performance.now();
  const until = began + WRITE_MS;
  const polling = written.poll();
  let perSecond;
  try {
    await (rate === undefined
      ? writeByClients({ stack, token, until, written })
      : insertAtRate({ stack, rate, isOver: () => performance.now() >= until, written }));
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
export function createWritten({ sql }) {
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

/** An id that the gateway accepts: 26 characters behind the prefix. */
const toPostId = (number) => `pst_${String(number).padStart(26, '0')}`;

/**
 * Each tick inserts its share by one statement. A tick that is late does not slow down the rate. Resolves with how long the statements took,
 * in milliseconds.
 */
export async function insertAtRate({ stack: { sql }, rate, isOver, written }) {
  const began = performance.now();
  const startedAt = Date.now() * 1000;
  const times = [];
  for (let count = 0; !isOver();) {
    const now = performance.now();
    const due = Math.floor(((now - began) * rate) / 1000) - count;
    if (due > 0) {
      const numbers = Array.from({ length: due }, (_, i) => count + i);
      const posts = numbers.map((each) => [toPostId(startedAt + each), textOf(each, 5), textOf(each, 40)]);
      await sql(
        'content',
        `INSERT INTO posts (id, "authorId", title, body, status)
         SELECT p.id, 'usr_00000000000000000000000001', p.title, p.body, 'PUBLISHED' FROM unnest($1::text[], $2::text[], $3::text[]) p(id, title, body)`,
        [0, 1, 2].map((column) => posts.map((post) => post[column])),
      );
      times.push(performance.now() - now);
      for (const [id] of posts) written.add(id);
      count += due;
    }
    await delay(TICK_MS);
  }
  return times;
}
