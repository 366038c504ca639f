/** Events from the triggers of a real PostgreSQL to their subscribers. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createLog } from '@trestle/log';
import { type TestDatabase, createTestDatabase } from '@trestle/postgres/test-database';
import pg from 'pg';
import { Registry } from 'prom-client';
import { type Database, openDatabase } from '../database/database.ts';
import type { Query } from '../database/query.ts';
import { sweepEvents } from './event-log.ts';
import { type Events, createEvents, loadByEntityId } from './events.ts';
import { selectEvents } from './event-selection.ts';

const log = createLog({ service: 'test', level: 'silent' });
let testDatabase: TestDatabase;
let database: Database;
const opened: Events[] = [];
let loads: (readonly string[])[] = [];

beforeAll(async () => {
  testDatabase = await createTestDatabase({ subgraph: 'users', adminUrl: process.env['TEST_PG_URL'] ?? '' });
  database = openDatabase({ url: testDatabase.url, metrics: new Registry() });
});
afterEach(async () => {
  loads = [];
  await Promise.all(opened.splice(0).map((events) => events.close()));
});
afterAll(async () => {
  await database.close();
  await testDatabase.drop();
});

const open = (url = testDatabase.url, outageMs = 10_000): Events => {
  const load = loadByEntityId((ids) => {
    loads.push(ids);
    return Promise.resolve(ids.map((id) => ({ id })));
  });
  const events = createEvents({ url, database, topics: { userCreated: load }, log, outageMs });
  opened.push(events);
  return events;
};
const insert = (ids: readonly string[], query = database.query) =>
  query(`INSERT INTO users (id, email, name) SELECT id, id || '@example.org', 'X' FROM unnest($1::text[]) id`, [ids]);
const queryOf =
  (client: pg.Client): Query =>
  async <Row extends object>(text: string, values: readonly unknown[] = []) =>
    (await client.query<Row>(text, [...values])).rows;
async function inTransaction(work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ connectionString: testDatabase.url });
  await client.connect();
  await client.query('BEGIN');
  await work(client);
  await client.query('COMMIT').finally(() => client.end());
}
const stored = () =>
  database.query<{ position: string; topic: string; entityId: string; data: object }>('SELECT * FROM events ORDER BY position');

describe('the table of events', () => {
  it('stores the events of committed changes only, without personal data', async () => {
    await inTransaction(async (client) => {
      await insert(['usr_kept'], queryOf(client));
      await client.query('SAVEPOINT s');
      await insert(['usr_back'], queryOf(client));
      await client.query('ROLLBACK TO s');
    });
    await expect(insert(['usr_new', 'usr_kept'])).rejects.toThrow();
    expect(await stored()).toMatchObject([{ position: '1', topic: 'userCreated', entityId: 'usr_kept', data: {} }]);
  });

  it('stores nothing while trestle.events is off', async () => {
    await inTransaction(async (client) => {
      await client.query("SET LOCAL trestle.events = 'off'");
      await client.query(`INSERT INTO users (id, email, name) SELECT 'usr_bulk' || i, 'bulk' || i, 'X' FROM generate_series(1, 1000) i`);
    });
    expect(await stored()).toHaveLength(1);
  });

  it('assigns positions without gaps to concurrent writes', async () => {
    await Promise.all(Array.from({ length: 100 }, (_, i) => insert([`usr_at_once${String(i)}`])));
    expect((await stored()).map(({ position }) => Number(position))).toEqual(Array.from({ length: 101 }, (_, i) => i + 1));
  });

  it('keeps the newest event when old ones are swept', async () => {
    await database.query(`UPDATE events SET "createdAt" = now() - interval '25 hours' WHERE position <= 40`);
    await sweepEvents(database.query);
    expect((await stored())[0]?.position).toBe('41');
    await sweepEvents(database.query, 0);
    expect((await stored()).map(({ position }) => position)).toEqual(['101']);
    await insert(['usr_after_sweep']);
    expect((await stored()).map(({ position }) => position)).toEqual(['101', '102']);
  });
});

describe('live events', () => {
  it('load each row once for all subscribers, and the rows of events that come together in one statement', async () => {
    const events = open();
    const streams = Array.from({ length: 20 }, () => events.open(selectEvents('userCreated')));
    await Promise.all(streams.map((stream) => stream.start()));
    const ids = Array.from({ length: 30 }, (_, i) => `usr_once${String(i)}`);
    await insert(ids);
    for (const stream of streams) for (const id of ids) expect((await stream.next())?.row).toEqual({ id });
    expect(loads).toEqual([ids]);
  });

  it('start with the first event after the subscription', async () => {
    const events = open();
    const first = events.open(selectEvents('userCreated'));
    await first.start();
    first.stop();
    await insert(['usr_between']);
    const stream = events.open(selectEvents('userCreated'));
    await stream.start();
    await insert(['usr_now']);
    expect((await stream.next())?.row).toEqual({ id: 'usr_now' });
  });

  it('end with SERVICE_UNAVAILABLE when the database cannot be reached for long', async () => {
    const events = open('postgres://nobody@127.0.0.1:9/none', 50);
    const streams = [events.open(selectEvents('userCreated')), events.open(selectEvents('userCreated'))];
    for (const stream of streams) await expect(stream.start()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  });

  it('end with SERVICE_UNAVAILABLE when the process stops', async () => {
    const events = open();
    const stream = events.open(selectEvents('userCreated'));
    await stream.start();
    const next = stream.next();
    const closed = events.close();
    await expect(next).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    await closed;
    await expect(events.open(selectEvents('userCreated')).start()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  });
});
