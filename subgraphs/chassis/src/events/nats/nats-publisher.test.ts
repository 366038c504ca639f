/** Several publishers of one outbox at once, as of several processes: a real PostgreSQL, a real NATS, and no error for the normal case. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createLog } from '@trestle/log';
import { type TestDatabase, createTestDatabase } from '@trestle/postgres/test-database';
import type { Database } from '../../database/database.ts';
import { openTestDatabase } from '../../database/test-database.ts';
import { parseCloudEvent } from './cloud-event.ts';
import type { EventFeed } from '../feeds/domain-event.ts';
import { type Events, createEvents } from '../source-streams/events.ts';
import { createLocalFeed } from '../feeds/local-feed.ts';
import { type NatsBus, createNatsBus } from './nats-bus.ts';
import { createNatsFeed } from './nats-feed.ts';
import { publishFeed } from './nats-publisher.ts';
import { type TestNats, startTestNats } from './test-nats.ts';

const silent = createLog({ service: 'test', level: 'silent' });
let nats: TestNats | undefined;
let buses: NatsBus[];
let errors: string[];
const log = {
  ...silent,
  error(message: string, { error }: { error?: unknown } = {}) {
    errors.push(error instanceof Error ? `${message}: ${error.message} (${String((error as { code?: unknown }).code)})` : message);
  },
};

beforeAll(async () => {
  nats = await startTestNats();
});
afterAll(() => nats?.stop());
beforeEach(() => {
  const prefix = `test${crypto.randomUUID().slice(0, 8)}`;
  // A connection for each, so that their messages arrive in any order.
  buses = Array.from({ length: 3 }, () => createNatsBus({ url: nats?.url ?? '', prefix, retentionHours: 24 }));
  errors = [];
});
afterEach(() => Promise.all(buses.map((bus) => bus.close())));

interface Outbox {
  readonly database: Database;
  readonly events: Events;
  readonly feed: EventFeed;
  readonly close: () => Promise<void>;
}

/** Repeats the check until it holds. Rejects after 40 s, so that a test that fails ends. */
async function until(check: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 40_000;
  while (!(await check())) if (Date.now() > deadline) throw new Error('The condition was not met within 40 s.');
}

async function openOutbox(): Promise<Outbox> {
  const testDatabase: TestDatabase = await createTestDatabase({ subgraph: 'users', adminUrl: process.env['TEST_PG_URL'] ?? '' });
  const { url } = testDatabase;
  const database = openTestDatabase({ url });
  // On a busy machine its connection may take longer than the limit; then it connects again, which is no error of a publisher.
  const events = createEvents({ url, database, topics: {}, log: silent });
  return {
    ...{ database, events, feed: createLocalFeed({ source: 'users', database, events }) },
    async close() {
      await events.close();
      await database.close();
      await testDatabase.drop();
    },
  };
}

/** Writes an event for each of these accounts, and returns their ids in the order of the outbox. */
async function write({ database }: Outbox, name: string, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, (_, at) => `usr_${name}${String(at)}`);
  await database.query(`INSERT INTO users (id, email, name) SELECT id, id || '@example.org', 'X' FROM unnest($1::text[]) id`, [ids]);
  return ids;
}

/** Takes the outbox back to a position, as a restored backup does. */
async function restore({ database }: Outbox, position: number): Promise<void> {
  await database.query('DELETE FROM outbox WHERE position > $1', [position]);
  await database.query(`SELECT setval('outbox_positions', $1)`, [position]);
}

const startPublishers = ({ feed }: Outbox, count = buses.length) => buses.slice(0, count).map((bus) => publishFeed({ feed, bus, log }));
const stopAll = (publishers: readonly ReturnType<typeof publishFeed>[]) => Promise.all(publishers.map((publisher) => publisher.stop()));

/** Returns the subjects of the events of the stream, in its order, once there are as many. */
async function readStream(count: number): Promise<string[]> {
  const [bus] = buses as [NatsBus];
  const { jsm } = await bus.ensureStream('users');
  const name = bus.streamOf('users');
  await until(async () => (await jsm.streams.info(name)).state.messages >= count);
  const { first_seq: first, last_seq: last } = (await jsm.streams.info(name)).state;
  const messages = await Promise.all(
    Array.from({ length: last - first + 1 }, (_, at) => jsm.streams.getMessage(name, { seq: first + at })),
  );
  return messages.map((message) => (message && parseCloudEvent(message.string(), 'users').subject) ?? '');
}

describe('several publishers of one outbox', () => {
  it('store each event once and in order, without an error', async () => {
    // `startTestNats` has reported that its server is missing.
    if (!nats) return;
    const outbox = await openOutbox();
    const expected = await write(outbox, 'early', 1200);
    const publishers = startPublishers(outbox);
    for (let burst = 0; burst < 20; burst++) expected.push(...(await write(outbox, `burst${String(burst)}n`, 40)));
    expect(await readStream(expected.length)).toEqual(expected);
    // One that stops, and one that begins, find the stream as it is.
    await publishers.pop()?.stop();
    publishers.push(...startPublishers(outbox, 1));
    expected.push(...(await write(outbox, 'late', 100)));
    expect(await readStream(expected.length)).toEqual(expected);
    expect(errors).toEqual([]);
    await stopAll(publishers);
    await outbox.close();
  });

  it('begin the stream again with all events of a database that does not continue it', async () => {
    if (!nats) return;
    for (let round = 0; round < 3; round++) {
      const outbox = await openOutbox();
      const expected = await write(outbox, `round${String(round)}n`, 300);
      const publishers = startPublishers(outbox);
      await until(async () => (await readStream(1)).at(-1) === expected.at(-1));
      expect(await readStream(300)).toEqual(expected);
      await stopAll(publishers);
      await outbox.close();
    }
    expect(errors.filter((error) => !error.includes('it begins again with the oldest'))).toEqual([]);
  });

  it('begin the stream again with all events of a backup that was restored, also those that the bus has just seen', async () => {
    if (!nats) return;
    const outbox = await openOutbox();
    const kept = await write(outbox, 'kept', 30);
    const publishers = startPublishers(outbox);
    const lost = await write(outbox, 'lost', 20);
    expect(await readStream(50)).toEqual([...kept, ...lost]);
    const feed = createNatsFeed({ source: 'users', bus: buses[2] as NatsBus, waitMs: 1000 });
    const [first] = await feed.read(undefined, 1, AbortSignal.timeout(30_000));
    const events = await feed.read(first?.position, 100, AbortSignal.timeout(30_000));
    const last = events.at(-1);
    expect(last?.subject).toBe(lost.at(-1));
    // Waits for the next event, as a publisher does, but for longer than the test may take.
    const patient = createLocalFeed({ source: 'users', ...outbox, waitMs: 600_000 });
    const waiting = expect(patient.read(last?.position, 100, AbortSignal.timeout(60_000))).rejects.toMatchObject({ code: 'GONE' });
    for (let read = 0; read < 3; read++) await outbox.events.waitBeyond(49, AbortSignal.timeout(30_000));

    await restore(outbox, 30);
    // It begins before the restored database is noticed, and the next event comes afterwards.
    const next = patient.read(events.find(({ subject }) => subject === kept.at(-1))?.position, 100, AbortSignal.timeout(60_000));
    await waiting;
    const written = await write(outbox, 'written', 5);
    await until(async () => (await readStream(1)).at(-1) === written.at(-1));
    expect((await next)[0]?.subject).toBe(written[0]);
    expect(await readStream(35)).toEqual([...kept, ...written]);
    // One that has read on and one that finds its place anew: neither waits until there are as many events as before.
    const anew = createNatsFeed({ source: 'users', bus: buses[2] as NatsBus, waitMs: 1000 });
    for (const reader of [feed, anew])
      await expect(reader.read(last?.position, 100, AbortSignal.timeout(30_000))).rejects.toMatchObject({ code: 'GONE' });
    expect((await anew.read(undefined, 100, AbortSignal.timeout(30_000))).map(({ subject }) => subject)).toEqual([...kept, ...written]);
    await stopAll(publishers);
    await outbox.close();
  });
});
