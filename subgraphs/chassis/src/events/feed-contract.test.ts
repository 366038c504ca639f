/** What every feed promises (ADR 24): from the outbox itself, over HTTP, and from NATS JetStream; from a real PostgreSQL and a real NATS. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createLog } from '@trestle/log';
import { type TestDatabase, createTestDatabase } from '@trestle/postgres/test-database';
import { Registry } from 'prom-client';
import type { Database } from '../database/database.ts';
import { openTestDatabase } from '../database/test-database.ts';
import type { DomainEvent, EventFeed } from './feeds/domain-event.ts';
import { createEvents } from './source-streams/events.ts';
import { createFeedEndpoint } from './feeds/feed-endpoint.ts';
import { createHttpFeed } from './feeds/http-feed.ts';
import { createLocalFeed } from './feeds/local-feed.ts';
import { createForeignMessages } from './nats/foreign-messages.ts';
import { type NatsBus, createNatsBus } from './nats/nats-bus.ts';
import { createNatsFeed } from './nats/nats-feed.ts';
import { publishFeed } from './nats/nats-publisher.ts';
import { type TestNats, startTestNats } from './nats/test-nats.ts';

const log = createLog({ service: 'test', level: 'silent' });
const WAIT_MS = 1000;
let nats: TestNats | undefined;

beforeAll(async () => {
  nats = await startTestNats();
});
afterAll(() => nats?.stop());

interface Fixture {
  readonly feed: EventFeed;
  readonly database: Database;
  readonly close: () => Promise<void>;
}
type Open = (local: EventFeed, bus?: NatsBus) => Promise<{ readonly feed: EventFeed; readonly stop: () => Promise<void> }>;

const openBus = () => createNatsBus({ url: nats?.url ?? '', prefix: `test${crypto.randomUUID().slice(0, 8)}`, retentionHours: 24 });

const TRANSPORTS: Readonly<Record<string, Open>> = {
  'the outbox': (feed) => Promise.resolve({ feed, stop: () => Promise.resolve() }),
  async HTTP(local) {
    const key = 'k'.repeat(32);
    const endpoint = createFeedEndpoint({ feed: local, key, log });
    const server = createServer(endpoint.handle).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/events`;
    return {
      feed: createHttpFeed({ source: 'users', url, key, waitSeconds: WAIT_MS / 1000 }),
      async stop() {
        endpoint.stop();
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      },
    };
  },
  async NATS(local, bus = openBus()) {
    // Two publishers, as of two processes: the stream must have each event once.
    const publishers = [publishFeed({ feed: local, bus, log }), publishFeed({ feed: local, bus, log })];
    await bus.ensureStream('users');
    return {
      feed: createNatsFeed({ source: 'users', bus, waitMs: WAIT_MS }),
      async stop() {
        await Promise.all(publishers.map((publisher) => publisher.stop()));
        await bus.close();
      },
    };
  },
};

async function open(transport: string, bus?: NatsBus): Promise<Fixture> {
  const testDatabase: TestDatabase = await createTestDatabase({ subgraph: 'users', adminUrl: process.env['TEST_PG_URL'] ?? '' });
  const database = openTestDatabase({ url: testDatabase.url, connections: 20 });
  const events = createEvents({ url: testDatabase.url, database, topics: {}, log });
  const local = createLocalFeed({ source: 'users', database, events, waitMs: WAIT_MS });
  const { feed, stop } = (await TRANSPORTS[transport]?.(local, bus)) ?? { feed: local, stop: () => Promise.resolve() };
  return {
    feed,
    database,
    async close() {
      await stop();
      await events.close();
      await database.close();
      await testDatabase.drop();
    },
  };
}

const never = () => new AbortController().signal;
const insert = ({ database }: Fixture, ids: readonly string[]) =>
  database.query(`INSERT INTO users (id, email, name) SELECT id, id || '@example.org', 'X' FROM unnest($1::text[]) id`, [ids]);
const subjectsOf = (events: readonly DomainEvent[]) => events.map(({ subject }) => subject);
const named = (name: string, count: number) => Array.from({ length: count }, (_, i) => `usr_${name}${String(i)}`);

/** Reads until there are so many events. */
async function take(feed: EventFeed, count: number, { after, limit = 100 }: { after?: string | undefined; limit?: number } = {}) {
  const events: DomainEvent[] = [];
  while (events.length < count) {
    const page = await feed.read(events.at(-1)?.position ?? after, Math.min(limit, count - events.length), never());
    events.push(...page);
  }
  return events;
}

describe.each(Object.keys(TRANSPORTS))('a feed from %s', (transport) => {
  let fixture: Fixture;
  beforeAll(async () => {
    if (transport !== 'NATS' || nats) fixture = await open(transport);
  });
  afterAll(() => (fixture as Fixture | undefined)?.close());
  /** Runs a test unless its server is missing, which `startTestNats` has reported. */
  const promise = (title: string, test: () => Promise<void>) => {
    it(title, () => (transport === 'NATS' && !nats ? Promise.resolve() : test()));
  };

  promise('returns events from the oldest, page by page, with all their attributes', async () => {
    const ids = named('page', 7);
    await insert(fixture, ids);
    const events = await take(fixture.feed, 7, { limit: 3 });
    expect(subjectsOf(events)).toEqual(ids);
    expect(events[0]).toEqual({
      ...{ id: expect.stringMatching(/^evt_/), source: 'users', position: expect.any(String), type: 'user.created', subject: ids[0] },
      ...{ ownerId: ids[0], audience: 'PUBLIC', data: { version: 1 }, time: expect.stringMatching(/^\d{4}-.*Z$/) },
    });
    expect(subjectsOf(await take(fixture.feed, 2, { after: events[4]?.position }))).toEqual(ids.slice(5));
  });

  promise('waits for the next event, and returns none after a while without one', async () => {
    const last = (await take(fixture.feed, 7)).at(-1)?.position;
    expect(await fixture.feed.read(last, 10, never())).toEqual([]);
    const reading = take(fixture.feed, 1, { after: last });
    await insert(fixture, ['usr_next']);
    expect(subjectsOf(await reading)).toEqual(['usr_next']);
  });

  promise('throws GONE for a position of another history, and VALIDATION_ERROR for a string that is none', async () => {
    const [event] = await take(fixture.feed, 1);
    const other = `${String(event?.position.split('.')[0])}.evt_${'0'.repeat(26)}`;
    await expect(fixture.feed.read(other, 10, never())).rejects.toMatchObject({ code: 'GONE' });
    await expect(fixture.feed.read('x', 10, never())).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
  });

  promise('rejects when its signal is aborted while it waits', async () => {
    const last = (await take(fixture.feed, 8)).at(-1)?.position;
    const aborting = new AbortController();
    const reading = fixture.feed.read(last, 10, aborting.signal);
    aborting.abort();
    await expect(reading).rejects.toThrow();
  });

  // Gaps of positions are the outbox's own: the others only pass on what it reads.
  const changes = transport === 'the outbox' ? 99 : 9;
  promise(
    `returns ${String((changes + 1) * 100)} events of concurrent writers once each, those of one entity in the order of its changes`,
    async () => {
      const ids = named('burst', 100);
      await insert(fixture, ids);
      const write = async (writer: number) => {
        for (let i = 0; i < changes; i++) {
          // Each account is changed by several writers; `age` counts its changes.
          const id = ids[(writer * 7 + i) % 100];
          await fixture.database.query('UPDATE users SET age = coalesce(age, 0) % 120 + 1, version = version + 1 WHERE id = $1', [id]);
        }
      };
      const reading = take(fixture.feed, 8 + 100 + 100 * changes, { limit: 1000 });
      await Promise.all(Array.from({ length: 100 }, (_, writer) => write(writer)));
      const events = await reading;
      expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
      for (const id of ids) {
        const versions = events.filter(({ subject }) => subject === id).map(({ data }) => data['version']);
        expect(versions).toEqual(versions.map((_, i) => i + 1));
      }
    },
  );
});

describe('NATS JetStream', () => {
  it('passes over messages of other clients of the bus, and messages that are removed', async () => {
    if (!nats) return;
    const bus = openBus();
    const fixture = await open('NATS', bus);
    const { js, jsm } = await bus.ensureStream('users');
    const add = (text: string) => js.publish(bus.subjectOf('users', 'user.created'), text);
    await add('added before the events');
    await insert(fixture, named('early', 3));
    const early = await take(fixture.feed, 3);
    await add('added behind the events');
    const { seq } = await add('{"source":"/elsewhere"}');
    await jsm.streams.deleteMessage(bus.streamOf('users'), seq);
    await insert(fixture, named('late', 3));
    const anew = createNatsFeed({ source: 'users', bus, waitMs: WAIT_MS });
    for (const feed of [fixture.feed, anew])
      for (const [at, { position }] of early.entries())
        expect(subjectsOf(await take(feed, 5 - at, { after: position }))).toEqual(
          [...named('early', 3), ...named('late', 3)].slice(at + 1),
        );
    await fixture.close();
  });

  it('passes over messages that name the source and are no events, and copies of events, with one line in the log and a metric', async () => {
    if (!nats) return;
    const bus = openBus();
    const fixture = await open('NATS', bus);
    await insert(fixture, named('early', 3));
    const [first, second] = await take(fixture.feed, 3);
    const { js } = await bus.ensureStream('users');
    const add = (message: object, msgID?: string) =>
      js.publish(bus.subjectOf('users', 'user.created'), JSON.stringify(message), msgID === undefined ? {} : { msgID });
    const copy = { ...(second as DomainEvent), source: '/users' };
    await add({ source: '/users' });
    await add({ ...copy, position: 'first' });
    await add({ ...copy, data: { name: '\0' } });
    await add(copy, `${copy.id}.99`);
    await insert(fixture, named('late', 3));
    const lines: unknown[] = [];
    const metrics = new Registry();
    const onForeign = createForeignMessages({ log: { ...log, warn: (line, fields) => lines.push([line, fields]) }, metrics });
    const anew = createNatsFeed({ source: 'users', bus, onForeign, waitMs: WAIT_MS });
    const expected = [...named('early', 3).slice(1), ...named('late', 3)];
    expect(subjectsOf(await take(fixture.feed, 5, { after: first?.position }))).toEqual(expected);
    expect(subjectsOf(await anew.read(first?.position, 100, never()))).toEqual(expected);
    const line = expect.stringMatching(/^messages of other clients in the stream of users are passed over, from sequence 4 of test/);
    expect(lines).toEqual([[line, { count: 4 }]]);
    expect(await metrics.metrics()).toContain('trestle_events_foreign_messages_total{source="users"} 4');
    await fixture.close();
  });

  it('passes over 10,000 messages of other clients in a row, and publishes behind them', async () => {
    if (!nats) return;
    const bus = openBus();
    const fixture = await open('NATS', bus);
    await insert(fixture, named('event', 3));
    const [event] = await take(fixture.feed, 3);
    const { js } = await bus.ensureStream('users');
    const add = () => js.publish(bus.subjectOf('users', 'user.created'), '{"source":"/users"}');
    for (let batch = 0; batch < 10; batch++) await Promise.all(Array.from({ length: 1000 }, add));
    const anew = createNatsFeed({ source: 'users', bus, waitMs: WAIT_MS });
    await insert(fixture, ['usr_later']);
    const events: DomainEvent[] = [];
    while (events.length < 3) events.push(...(await anew.read(events.at(-1)?.position ?? event?.position, 1000, never())));
    expect(subjectsOf(events)).toEqual([...named('event', 3).slice(1), 'usr_later']);
    await fixture.close();
  });

  it('goes on when its stream was deleted', async () => {
    if (!nats) return;
    const bus = openBus();
    const fixture = await open('NATS', bus);
    await insert(fixture, named('event', 3));
    const [event] = await take(fixture.feed, 3);
    const { jsm } = await bus.ensureStream('users');
    await jsm.streams.delete(bus.streamOf('users'));
    await insert(fixture, ['usr_later']);
    const anew = createNatsFeed({ source: 'users', bus, waitMs: WAIT_MS });
    expect(subjectsOf(await take(anew, 3, { after: event?.position }))).toEqual([...named('event', 3).slice(1), 'usr_later']);
    await fixture.close();
  });

  it('gets every event once after it was killed, and after it lost its streams; consumers continue where they were', async () => {
    if (!nats) return;
    const fixture = await open('NATS');
    await insert(fixture, named('before', 50));
    let after = (await take(fixture.feed, 50)).at(-1)?.position;
    const takeAgain = async () => {
      for (;;) {
        const events = await take(fixture.feed, 50, { after }).catch(() => undefined);
        if (events) return events;
      }
    };
    for (const outage of ['crash', 'loss']) {
      await nats.kill();
      if (outage === 'loss') await nats.lose();
      await insert(fixture, named(outage, 50));
      await expect(fixture.feed.read(after, 100, never())).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
      await nats.start();
      const events = await takeAgain();
      expect(subjectsOf(events)).toEqual(named(outage, 50));
      after = events.at(-1)?.position;
    }
    expect(subjectsOf(await take(fixture.feed, 150))).toEqual([...named('before', 50), ...named('crash', 50), ...named('loss', 50)]);
    await fixture.close();
  });
});
