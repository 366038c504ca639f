/** Events from the triggers of a real PostgreSQL to their subscribers. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createLog } from '@trestle/log';
import { type TestDatabase, createTestDatabase } from '@trestle/postgres/test-database';
import pg from 'pg';
import type { Database } from '../database/database.ts';
import { openTestDatabase } from '../database/test-database.ts';
import type { Query } from '../database/query.ts';
import { maintainOutbox, readBounds, readEvents } from './outbox/event-log.ts';
import type { LoadedEvent } from './source-streams/dispatcher.ts';
import { type Events, createEvents } from './source-streams/events.ts';
import { selectEvents } from './outbox/event-selection.ts';
import { createLocalFeed } from './feeds/local-feed.ts';
import { loadBySubject } from './source-streams/topics.ts';

const log = createLog({ service: 'test', level: 'silent' });
let testDatabase: TestDatabase;
let database: Database;
const opened: Events[] = [];
let loads: (readonly string[])[] = [];

beforeAll(async () => {
  testDatabase = await createTestDatabase({ subgraph: 'users', adminUrl: process.env['TEST_PG_URL'] ?? '' });
  database = openTestDatabase({ url: testDatabase.url });
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
  const load = loadBySubject((ids: readonly string[]) => {
    loads.push(ids);
    return Promise.resolve(ids.map((id) => ({ id })));
  });
  const events = createEvents({ url, database, topics: { userCreated: { types: ['user.created'], load } }, log, outageMs });
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
const stored = () => readEvents(database.query, { after: 0, upTo: Number.MAX_SAFE_INTEGER, limit: 10_000 });
/** Returns the names of the tables that have events. */
const tables = async () => {
  const rows = await database.query<{ name: string }>(`SELECT DISTINCT tableoid::regclass::text AS name FROM outbox`);
  return rows.map(({ name }) => name).sort();
};
const subjects = async () => (await stored()).map(({ subject }) => subject);

/** Takes the outbox back to a position, and writes two events behind it: as a restored backup, once processes have begun to write again. */
const restoreTo = (position: number) =>
  inTransaction(async (client) => {
    // The reader, which loses its connection, sees the table again when all of this is done. The connections of the pool are gone by then too.
    await client.query('LOCK TABLE outbox IN ACCESS EXCLUSIVE MODE');
    await client.query(
      `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    );
    await client.query('DELETE FROM outbox WHERE position > $1', [position]);
    await client.query(`SELECT setval('outbox_positions', $1)`, [position]);
    await insert([`usr_one_after${String(position)}`, `usr_two_after${String(position)}`], queryOf(client));
  });

describe('the outbox', () => {
  it('stores the events of committed changes only, without personal data', async () => {
    await inTransaction(async (client) => {
      await insert(['usr_kept'], queryOf(client));
      await client.query('SAVEPOINT s');
      await insert(['usr_back'], queryOf(client));
      await client.query('ROLLBACK TO s');
    });
    await expect(insert(['usr_new', 'usr_kept'])).rejects.toThrow();
    expect(await stored()).toEqual([
      {
        ...{ position: 1, id: expect.stringMatching(/^evt_[0-9a-f]{26}$/), type: 'user.created', subject: 'usr_kept', ownerId: 'usr_kept' },
        ...{ audience: 'PUBLIC', data: { version: 1 }, createdAt: expect.any(Date) },
      },
    ]);
  });

  it('stores nothing while trestle.events is off', async () => {
    await inTransaction(async (client) => {
      await client.query("SET LOCAL trestle.events = 'off'");
      await client.query(`INSERT INTO users (id, email, name) SELECT 'usr_bulk' || i, 'bulk' || i, 'X' FROM generate_series(1, 1000) i`);
    });
    expect(await stored()).toHaveLength(1);
  });

  it('is settled up to the first event of a transaction that has not been committed', async () => {
    const newest = (await stored()).at(-1)?.position ?? 0;
    await inTransaction(async (client) => {
      await insert(['usr_first'], queryOf(client));
      await client.query('SET CONSTRAINTS ALL IMMEDIATE');
      await insert(['usr_second']);
      expect(await readBounds(database.query)).toEqual({ oldest: 1, settled: newest, newest: newest + 2, isSettled: false });
    });
    expect(await readBounds(database.query)).toEqual({ oldest: 1, settled: newest + 2, newest: newest + 2, isSettled: true });
    expect((await subjects()).slice(-2)).toEqual(['usr_first', 'usr_second']);
  });

  it('never shows a reader an event before one that it has read', async () => {
    const first = (await readBounds(database.query)).settled;
    const read: number[] = [];
    const writing = { isOver: false };
    const reading = (async () => {
      while (!writing.isOver || (read.at(-1) ?? first) < (await readBounds(database.query)).newest) {
        const { settled: upTo } = await readBounds(database.query);
        const page = await readEvents(database.query, { after: read.at(-1) ?? first, upTo, limit: 1000 });
        read.push(...page.map(({ position }) => position));
      }
    })();
    const write = async (writer: number) => {
      for (let i = 0; i < 25; i++) await insert([`usr_at_once${String(writer)}_${String(i)}`]);
    };
    await Promise.all(Array.from({ length: 8 }, (_, writer) => write(writer)));
    writing.isOver = true;
    await reading;
    const written = (await stored()).filter(({ position }) => position > first);
    expect(written).toHaveLength(200);
    expect(read).toEqual(written.map(({ position }) => position));
  });

  it('has the order of the changes of each entity, whichever transaction began first', async () => {
    await insert(['usr_changed']);
    const rename = (name: string, query = database.query) => query(`UPDATE users SET name = $1 WHERE id = 'usr_changed'`, [name]);
    await inTransaction(async (client) => {
      // An older transaction than the one that changes the account first.
      await insert(['usr_older'], queryOf(client));
      await rename('Before');
      await rename('After', queryOf(client));
    });
    const events = (await stored()).filter(({ subject }) => subject === 'usr_changed' || subject === 'usr_older');
    expect(events.map(({ type }) => type)).toEqual(['user.created', 'user.updated', 'user.created', 'user.updated']);
  });

  it('removes the days that are over, and counts on', async () => {
    const { newest } = await readBounds(database.query);
    const date = (day: string, from: number) =>
      database.query(`UPDATE outbox SET "createdAt" = $1 WHERE position >= $2`, [`2020-01-${day} 12:00Z`, from]);
    await date('01', 1);
    await maintainOutbox(database.query, 1_000_000);
    expect(await tables()).toEqual([`outbox_to_${String(newest)}`]);
    await insert(['usr_second_day']);
    await date('02', newest + 1);
    await maintainOutbox(database.query, 1_000_000);
    expect(await tables()).toEqual([`outbox_to_${String(newest)}`, `outbox_to_${String(newest + 1)}`]);
    await insert(['usr_today']);
    await database.query(`UPDATE outbox SET "createdAt" = now() WHERE position > $1`, [newest]);
    await maintainOutbox(database.query, 24);
    expect(await tables()).toEqual(['outbox_current', `outbox_to_${String(newest + 1)}`]);
    expect(await readBounds(database.query)).toMatchObject({ oldest: newest + 1, newest: newest + 2 });
    await date('03', 1);
    await maintainOutbox(database.query, 24);
    expect(await readBounds(database.query)).toEqual({ oldest: newest + 3, settled: newest + 2, newest: newest + 2, isSettled: true });
    await insert(['usr_after_sweep']);
    expect(await stored()).toMatchObject([{ position: newest + 3, subject: 'usr_after_sweep' }]);
  });

  it('has all events, in order, when tables are begun and dropped while they are written', async () => {
    const { newest } = await readBounds(database.query);
    const writing = { isOver: false };
    const rotating = (async () => {
      while (!writing.isOver)
        await database.query(`DO $$ BEGIN IF EXISTS (SELECT FROM outbox_current) THEN PERFORM rotate_outbox(); END IF; END $$`);
    })();
    const writers = Array.from({ length: 8 }, (_, writer) =>
      Array.from({ length: 25 }, (_, i) => `usr_moved${String(writer)}_${String(i)}`),
    );
    await Promise.all(
      writers.map(async (ids) => {
        for (const id of ids) await insert([id]);
      }),
    );
    writing.isOver = true;
    await rotating;
    expect((await tables()).length).toBeGreaterThan(3);
    const events = (await stored()).filter(({ position }) => position > newest);
    expect(events.map(({ subject }) => subject).sort()).toEqual(writers.flat().sort());
    for (const ids of writers) expect(events.filter(({ subject }) => ids.includes(subject)).map(({ subject }) => subject)).toEqual(ids);
    const [overlaps] = await database.query<{ count: number }>(
      `SELECT count(*)::int FROM (SELECT min(position) AS low, max(position) AS high FROM outbox GROUP BY tableoid) a
       JOIN (SELECT min(position) AS low, max(position) AS high FROM outbox GROUP BY tableoid) b ON a.low < b.low AND a.high > b.low`,
    );
    expect(overlaps).toEqual({ count: 0 });
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

  it('end when a backup was restored that has as many events by then, and positions of before are GONE', async () => {
    const events = open();
    const stream = events.open(selectEvents('userCreated'));
    await stream.start();
    await insert(['usr_lost']);
    const lost = (await stream.next()) as LoadedEvent;
    await restoreTo(lost.position - 1);
    const resumed = events.open(selectEvents('userCreated'), { position: lost.position, id: lost.id });
    await expect(resumed.start()).rejects.toMatchObject({ code: 'GONE' });
    await expect(stream.next()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  });

  it('are not read on behind an event that a restored backup has not, also by a reader that waits for the next one', async () => {
    const events = open();
    await insert(['usr_read']);
    const last = (await stored()).at(-1);
    let onWait: () => void = () => undefined;
    const waits = new Promise<void>((resolve) => (onWait = resolve));
    const waitBeyond: Events['waitBeyond'] = (position, signal) => {
      onWait();
      return events.waitBeyond(position, signal);
    };
    const feed = createLocalFeed({ source: 'users', database, events: { position: events.position, waitBeyond } });
    const reading = feed.read(`${String(last?.position)}.${String(last?.id)}`, 10, new AbortController().signal);
    await waits;
    await restoreTo((last?.position ?? 0) - 1);
    await expect(reading).rejects.toMatchObject({ code: 'GONE' });
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
