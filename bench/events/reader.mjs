/* global AbortController -- part of Node.js */
/**
 * A process that reads the outbox of a database as a subgraph does: `node reader.mjs URL events|relay|rows`. `relay` also moves the events of a relay;
 * `rows` reads the comments in place of events.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { createEvents } from '@trestle/chassis/events/source-streams/events';
import { createLocalFeed } from '@trestle/chassis/events/feeds/local-feed';
import { createLog } from '@trestle/log';
import pg from 'pg';
import { MOVE } from './designs.mjs';

const [url, kind] = process.argv.slice(2);
const log = createLog({ service: 'bench', level: 'silent' });
const pool = new pg.Pool({ connectionString: url, max: 3 });
const query = async (text, values) => (await pool.query(text, values)).rows;
const events = createEvents({ url, database: { query }, topics: {}, log });
const feed = createLocalFeed({ source: 'content', database: { query }, events });
const stopping = new AbortController();

async function readAll() {
  let after;
  let count = 0;
  while (!stopping.signal.aborted) {
    const page = await feed.read(after, 1000, stopping.signal).catch((error) => {
      if (!stopping.signal.aborted) throw error;
      return [];
    });
    count += page.length;
    after = page.at(-1)?.position ?? after;
  }
  return count;
}

/** Reads new comments with the pauses of a reader of events. */
async function readRows() {
  let last = [new Date(0), ''];
  let count = 0;
  while (!stopping.signal.aborted) {
    const begunAt = performance.now();
    const rows = await query(`SELECT * FROM comments WHERE ("createdAt", id) > ($1, $2) ORDER BY "createdAt", id LIMIT 1000`, last);
    count += rows.length;
    const { createdAt, id } = rows.at(-1) ?? {};
    if (id !== undefined) last = [createdAt, id];
    await delay(Math.min(Math.max(4 * (performance.now() - begunAt), 10), 50));
  }
  return count;
}

async function move() {
  while (!stopping.signal.aborted) {
    const { rowCount } = await pool.query(MOVE);
    if (rowCount > 0) await pool.query(`NOTIFY trestle_events`);
    else await delay(5);
  }
}

process.once('disconnect', () => {
  stopping.abort();
});
process.send('ready');
const [count] = await Promise.all([kind === 'rows' ? readRows() : readAll(), kind === 'relay' ? move() : undefined]);
if (count === 0) throw new Error('The reader has read no event.');
await events.close();
await pool.end();
