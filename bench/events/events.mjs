/* global AbortController, AbortSignal -- part of Node.js */
/** `npm run bench:events`: what events cost writers and mutations at 32 connections, and how long they take to a subscriber by PostgreSQL and by NATS. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createEvents } from '@trestle/chassis/events/source-streams/events';
import { createLocalFeed } from '@trestle/chassis/events/feeds/local-feed';
import { createNatsBus } from '@trestle/chassis/events/nats/nats-bus';
import { createNatsFeed } from '@trestle/chassis/events/nats/nats-feed';
import { publishFeed } from '@trestle/chassis/events/nats/nats-publisher';
import { startTestNats } from '@trestle/chassis/events/nats/test-nats';
import { createLog } from '@trestle/log';
import { createTestDatabase } from '@trestle/postgres/test-database';
import pg from 'pg';
import { withPostgres } from '../postgres.mjs';
import { DESIGNS } from './designs.mjs';
import { measureMutations } from './mutations.mjs';

/**
 * `--quick` takes shorter rounds, `--transports` leaves the writers out, `--mutations` has only writers by mutations, `--statements` only writers by
 * statements, and `--unread` leaves the readers out of these.
 */
const isUnread = process.argv.includes('--unread');
const isQuick = process.argv.includes('--quick');
const ROUNDS = isQuick ? 4 : 9;
const ROUND_MS = isQuick ? 1500 : 4000;
const CONNECTIONS = 32;
const log = createLog({ service: 'bench', level: 'silent' });

const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
const quantile = (numbers, q) => numbers.toSorted((a, b) => a - b)[Math.min(numbers.length - 1, Math.floor(numbers.length * q))];

/** What a writer does: a comment alone, or a post, its change and a comment in one transaction. */
const WRITES = {
  'one row': async (client, id) => {
    await client.query(`INSERT INTO comments (id, "postId", "authorId", body) VALUES ($1, 'pst_1', 'usr_1', 'Well said.')`, [`cmt_${id}`]);
  },
  'transaction of four statements': async (client, id) => {
    await client.query('BEGIN');
    await client.query(`SELECT id FROM posts WHERE id = 'pst_1'`);
    await client.query(`INSERT INTO posts (id, "authorId", title, body) VALUES ($1, 'usr_1', 'A title', 'A body')`, [`pst_${id}`]);
    await client.query(`UPDATE posts SET status = 'PUBLISHED', version = version + 1 WHERE id = $1`, [`pst_${id}`]);
    await client.query('COMMIT');
  },
};

/** Opens a database of a design, with its reader in a process of its own, as a subgraph is one: it is part of what events cost. */
async function openDesign(name, adminUrl) {
  const { url, drop } = await createTestDatabase({ subgraph: 'content', adminUrl });
  const pool = new pg.Pool({ connectionString: url, max: 3 });
  for (const statement of DESIGNS[name].statements) await pool.query(statement);
  await pool.query(`INSERT INTO posts (id, "authorId", title, status) VALUES ('pst_1', 'usr_1', 'T', 'PUBLISHED')`);
  const isOff = name.startsWith('without events');
  const options = isOff ? '?options=-c%20trestle.events%3Doff' : '';
  const clients = await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      const client = new pg.Client({ connectionString: `${url}${options}` });
      await client.connect();
      return client;
    }),
  );
  await pool.end();
  const { reader: kind } = DESIGNS[name];
  const reader = kind === undefined || isUnread ? undefined : await startReader(url, kind);
  let number = 0;
  return {
    name,
    /** Writes for a round, and resolves with the writes in a second. */
    async run(write) {
      const until = performance.now() + ROUND_MS;
      let count = 0;
      const begin = performance.now();
      await Promise.all(
        clients.map(async (client) => {
          for (; performance.now() < until; count++) await write(client, `${name[0]}${number++}`);
        }),
      );
      return (count * 1000) / (performance.now() - begin);
    },
    async close() {
      await reader?.stop();
      await Promise.all(clients.map((client) => client.end()));
      await drop();
    },
  };
}

/** Starts a process that reads all events, so that it does not take the time of the process that generates the load. */
async function startReader(url, kind) {
  const child = fork(fileURLToPath(new URL('reader.mjs', import.meta.url)), [url, kind]);
  await once(child, 'message');
  return {
    async stop() {
      const exited = once(child, 'exit');
      child.disconnect();
      const [code] = await exited;
      if (code !== 0) throw new Error(`The reader has failed with the exit code ${code}.`);
    },
  };
}

async function compareDesigns(adminUrl) {
  const designs = [];
  for (const name of Object.keys(DESIGNS)) designs.push(await openDesign(name, adminUrl));
  for (const [title, write] of Object.entries(WRITES)) {
    const ratios = Object.fromEntries(designs.map(({ name }) => [name, []]));
    for (let round = 0; round < ROUNDS; round++) {
      const rates = [];
      for (const design of designs) rates.push(await design.run(write));
      // The first round does not count.
      if (round > 0) designs.forEach(({ name }, i) => ratios[name].push(rates[i] / rates[0]));
      if (round > 0) designs.forEach(({ name }, i) => (ratios[name].rate = rates[i]));
    }
    for (const { name } of designs) {
      const [middle, low, high] = [median(ratios[name]), Math.min(...ratios[name]), Math.max(...ratios[name])];
      console.log(
        `${title} | ${name} | ${middle.toFixed(2)} (${low.toFixed(2)}–${high.toFixed(2)}) | ${Math.round(ratios[name].rate)} writes/s in the last round`,
      );
    }
  }
  for (const design of designs) await design.close();
}

async function compareMutations(adminUrl) {
  const rates = await measureMutations(adminUrl, { rounds: ROUNDS - 1, roundMs: ROUND_MS, connections: CONNECTIONS });
  const ratios = rates.map((rate) => rate.with / rate.without);
  const [middle, low, high] = [median(ratios), Math.min(...ratios), Math.max(...ratios)];
  const last = `${Math.round(rates.at(-1).with)} mutations/s in the last round`;
  console.log(`mutations of content | with events | ${middle.toFixed(2)} (${low.toFixed(2)}–${high.toFixed(2)}) | ${last}`);
}

/** Reads a feed while events are written, and prints their rate and delay. */
async function measureFeed(title, feed, { insert, rate }) {
  const stopping = new AbortController();
  const prefix = `cmt_${title}_${rate ?? 'burst'}_`;
  /** When each write was sent (in a burst) or committed, and when its event arrived: that can be before the writer learns of the commit. */
  const [sent, arrived] = [new Map(), new Map()];
  let after = (await readToEnd(feed)) ?? undefined;
  const total = rate === undefined ? (isQuick ? 3000 : 20_000) : isQuick ? 300 : 2000;
  const begin = performance.now();
  let lastAt = begin;
  const reading = (async () => {
    while (arrived.size < total) {
      const events = await feed.read(after, 1000, stopping.signal);
      lastAt = performance.now();
      for (const { subject } of events) if (subject.startsWith(prefix)) arrived.set(subject, lastAt);
      after = events.at(-1)?.position ?? after;
    }
  })();
  const write = async (i) => {
    const id = `${prefix}${i}`;
    await insert(id);
    sent.set(id, performance.now());
  };
  if (rate === undefined) {
    let next = 0;
    await Promise.all(
      Array.from({ length: CONNECTIONS }, async () => {
        while (next < total) {
          const i = next++;
          const id = `${prefix}${i}`;
          sent.set(id, performance.now());
          await insert(id);
        }
      }),
    );
  } else for (let i = 0; i < total; i++) await Promise.all([write(i), delay(1000 / rate)]);
  await reading;
  const delays = [...arrived].map(([id, at]) => Math.max(0, at - sent.get(id)));
  const perSecond = Math.round((total * 1000) / (lastAt - begin));
  console.log(
    `${title} | ${rate === undefined ? `burst of ${total}, ${perSecond} events/s from write to subscriber` : `${rate} events/s`} | p50 ${quantile(delays, 0.5).toFixed(1)} ms | p99 ${quantile(delays, 0.99).toFixed(1)} ms`,
  );
}

async function readToEnd(feed) {
  let after;
  for (;;) {
    const events = await feed.read(after, 1000, AbortSignal.timeout(30_000));
    after = events.at(-1)?.position ?? after;
    if (events.length < 1000) return after;
  }
}

async function compareTransports(adminUrl) {
  const nats = await startTestNats();
  const { url, drop } = await createTestDatabase({ subgraph: 'content', adminUrl });
  const pool = new pg.Pool({ connectionString: url, max: CONNECTIONS + 4 });
  await pool.query(`INSERT INTO posts (id, "authorId", title, status) VALUES ('pst_1', 'usr_1', 'T', 'PUBLISHED')`);
  const query = async (text, values) => (await pool.query(text, values)).rows;
  const insert = (id) =>
    pool.query(`INSERT INTO comments (id, "postId", "authorId", body) VALUES ($1, 'pst_1', 'usr_1', 'Well said.')`, [id]);
  const events = createEvents({ url, database: { query }, topics: {}, log });
  const local = createLocalFeed({ source: 'content', database: { query }, events });
  const bus = nats && createNatsBus({ url: nats.url, prefix: 'bench', retentionHours: 24 });
  const publisher = bus && publishFeed({ feed: local, bus, log });
  const feeds = { PostgreSQL: local, ...(bus && { NATS: createNatsFeed({ source: 'content', bus }) }) };
  for (const rate of [50, undefined]) for (const [title, feed] of Object.entries(feeds)) await measureFeed(title, feed, { insert, rate });
  await publisher?.stop();
  await bus?.close();
  await events.close();
  await pool.end();
  await drop();
  await nats?.stop();
}

await withPostgres({ flags: ['-c', 'max_connections=300'] }, async (server) => {
  const adminUrl = server.url('postgres');
  console.log(`Writes at ${CONNECTIONS} connections, relative to those without events, interleaved rounds: median (lowest–highest)`);
  if (process.argv.includes('--mutations')) return compareMutations(adminUrl);
  if (process.argv.includes('--statements')) return compareDesigns(adminUrl);
  if (!process.argv.includes('--transports')) {
    await compareMutations(adminUrl);
    await compareDesigns(adminUrl);
  }
  console.log('\nFrom the commit to the subscriber');
  await compareTransports(adminUrl);
});
