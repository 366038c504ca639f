/**
 * Most writers do not notify (ADR 24): every reader learns of every event all the same. Readers of these tests do not poll, so an event of which nobody
 * notified them would never arrive.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createLog } from '@trestle/log';
import { type TestDatabase, createTestDatabase } from '@trestle/postgres/test-database';
import pg from 'pg';
import type { Database } from '../../database/database.ts';
import { openTestDatabase } from '../../database/test-database.ts';
import type { Query } from '../../database/query.ts';
import { readBounds } from '../outbox/event-log.ts';
import { type Events, createEvents } from './events.ts';

const log = createLog({ service: 'test', level: 'silent' });
const NEVER_MS = 2 ** 31 - 1;
let testDatabase: TestDatabase;
let database: Database;
const opened: Events[] = [];
const clients: pg.Client[] = [];
const children: ChildProcess[] = [];
let number = 0;

beforeAll(async () => {
  testDatabase = await createTestDatabase({ subgraph: 'users', adminUrl: process.env['TEST_PG_URL'] ?? '' });
  database = openTestDatabase({ url: testDatabase.url });
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await Promise.all(opened.splice(0).map((events) => events.close()));
  await Promise.all(clients.splice(0).map((client) => client.end()));
});
afterAll(async () => {
  await database.close();
  await testDatabase.drop();
});

function openReader(): Events {
  const events = createEvents({ url: testDatabase.url, database, topics: {}, log, pollMs: NEVER_MS });
  opened.push(events);
  return events;
}

async function connect(): Promise<Query> {
  const client = new pg.Client({ connectionString: testDatabase.url });
  await client.connect();
  clients.push(client);
  return async <Row extends object>(text: string, values: readonly unknown[] = []) => (await client.query<Row>(text, [...values])).rows;
}

const insert = (query = database.query) => {
  const id = `usr_${String(number++)}`;
  return query('INSERT INTO users (id, email, name) VALUES ($1, $2, $3)', [id, `${id}@example.org`, 'X']);
};
const newest = async () => (await readBounds(database.query)).newest;
/** Resolves when the reader has read up to a position. It asks for nothing: only notifications wake the reader. */
async function untilRead(events: Events, position: number): Promise<void> {
  while (events.position() < position) await new Promise((resolve) => setImmediate(resolve));
}
/** Resolves with a reader that has read everything, and waits for a notification. */
async function openIdleReader(): Promise<Events> {
  const events = openReader();
  await events.waitBeyond(-1, new AbortController().signal);
  return events;
}

describe('readers of one outbox', () => {
  it('do not sleep while a transaction holds the lock that makes writers not notify', async () => {
    const query = await connect();
    await query('BEGIN');
    await query('SELECT pg_advisory_xact_lock(72707372, 0)');
    expect(await readBounds(database.query)).toMatchObject({ isSettled: false });
    const reader = await openIdleReader();
    await insert();
    await untilRead(reader, await newest());
    await query('ROLLBACK');
    expect(await readBounds(database.query)).toMatchObject({ isSettled: true });
  });

  it('learn of each event without a poll, however the reads and commits of several fall', async () => {
    const readers = await Promise.all([openIdleReader(), openIdleReader(), openIdleReader()]);
    const writers = await Promise.all(Array.from({ length: 6 }, () => connect()));
    for (let round = 0; round < 150; round++) {
      // From one writer, whose event comes alone, to all of them several times.
      const writing = writers.slice(0, 1 + (round % writers.length)).map(async (query) => {
        for (let i = 0; i <= round % 4; i++) await insert(query);
      });
      await Promise.all(writing);
      const position = await newest();
      for (const reader of readers) await untilRead(reader, position);
    }
  });

  it('learn of each event while a process that reads is stopped and continued under load, or killed', async () => {
    const reader = await openIdleReader();
    const child = await startReaderProcess();
    const load = { isOver: false };
    const writing = Array.from({ length: 4 }, async () => {
      while (!load.isOver) await insert();
    });
    for (let round = 0; round < 10; round++) {
      child.kill('SIGSTOP');
      await untilRead(reader, (await newest()) + 20);
      child.kill('SIGCONT');
      await untilRead(reader, (await newest()) + 20);
    }
    child.kill('SIGSTOP');
    load.isOver = true;
    await Promise.all(writing);
    await untilRead(reader, await newest());
    await insert();
    await untilRead(reader, await newest());
    child.kill('SIGKILL');
    await insert();
    await untilRead(reader, await newest());
  });
});

/** Reads the outbox as a subgraph does. */
const READ = `
  import { createEvents } from '@trestle/chassis/events/source-streams/events';
  import { createLog } from '@trestle/log';
  const database = { query: () => Promise.reject(new Error('unused')) };
  const events = createEvents({ url: process.argv[1], database, topics: {}, log: createLog({ service: 'test', level: 'silent' }) });
  await events.waitBeyond(-1, new AbortController().signal);
  console.log('started');
  setInterval(() => {}, 1000);`;
/** Starts a process that reads, and resolves when it has begun. */
async function startReaderProcess(): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', READ, testDatabase.url], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  await once(child.stdout, 'data');
  return child;
}
