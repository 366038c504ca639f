/** Durable consumers on real databases, whose connections are ended at random. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createLog } from '@trestle/log';
import { type TestDatabase, createTestDatabase } from '@trestle/postgres/test-database';
import { fail } from '@trestle/schema/errors';
import { Registry } from 'prom-client';
import type { Database } from '../../database/database.ts';
import { openTestDatabase } from '../../database/test-database.ts';
import { consumeFeed } from './consume-feed.ts';
import type { DomainEvent, EventFeed } from '../feeds/domain-event.ts';
import { createEvents } from '../source-streams/events.ts';
import { createLocalFeed } from '../feeds/local-feed.ts';

const log = createLog({ service: 'test', level: 'silent' });
const metrics = new Registry();
let source: TestDatabase;
let target: TestDatabase;
let database: Database;
let own: Database;
let feed: EventFeed;
let close: () => Promise<void>;

beforeAll(async () => {
  const adminUrl = process.env['TEST_PG_URL'] ?? '';
  [source, target] = [
    await createTestDatabase({ subgraph: 'users', adminUrl }),
    await createTestDatabase({ subgraph: 'orders', adminUrl }),
  ];
  database = openTestDatabase({ url: source.url });
  own = openTestDatabase({ url: target.url });
  await own.query('CREATE TABLE effects ("number" BIGSERIAL, "consumer" TEXT, "subject" TEXT)');
  const events = createEvents({ url: source.url, database, topics: {}, log });
  feed = createLocalFeed({ source: 'users', database, events, waitMs: 200 });
  close = () => events.close();
});
afterAll(async () => {
  await close();
  await Promise.all([database.close(), own.close()]);
  await Promise.all([source.drop(), target.drop()]);
});

const insert = (ids: readonly string[]) =>
  database.query(`INSERT INTO users (id, email, name) SELECT id, id || '@example.org', 'X' FROM unnest($1::text[]) id`, [ids]);
const named = (name: string, count: number) => Array.from({ length: count }, (_, i) => `usr_${name}${String(i)}`);
const effectsOf = async (consumer: string) =>
  (await own.query<{ subject: string }>('SELECT subject FROM effects WHERE consumer = $1 ORDER BY number', [consumer])).map(
    ({ subject }) => subject,
  );
const consume = (consumer: string, options: Partial<Parameters<typeof consumeFeed>[0]> = {}) =>
  consumeFeed({
    ...{ feed, consumer, database: own, log, metrics, batch: 10, retries: { attempts: 8, firstMs: 5, maxMs: 20 } },
    handle: async (events, query) => {
      for (const { subject } of events) await query('INSERT INTO effects (consumer, subject) VALUES ($1, $2)', [consumer, subject]);
    },
    ...options,
  });
async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await own.query('SELECT pg_sleep(0.02)');
}

describe('a durable consumer', () => {
  it('makes the effect of each event once and in order, in several processes whose connections are lost', async () => {
    const ids = named('once', 300);
    const consumers = [consume('once'), consume('once'), consume('once')];
    for (let i = 0; i < ids.length; i += 20) {
      await insert(ids.slice(i, i + 20));
      await own
        .query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
           WHERE datname = current_database() AND pid <> pg_backend_pid() AND (query LIKE '%effects%' OR query LIKE '%feed_positions%')`,
        )
        .catch(() => undefined);
    }
    await until(async () => (await effectsOf('once').catch(() => [])).length >= ids.length);
    await Promise.all(consumers.map((consumer) => consumer.stop()));
    expect(await effectsOf('once')).toEqual(ids);
  });

  it('makes no part of an effect that fails, and tries again', async () => {
    let failures = 3;
    const consumer = consume('failing', {
      handle: async (events, query) => {
        for (const { subject } of events) await query('INSERT INTO effects (consumer, subject) VALUES ($1, $2)', ['failing', subject]);
        if (failures-- > 0) throw new Error('Not now.');
      },
    });
    await until(async () => (await effectsOf('failing')).length >= 300);
    await consumer.stop();
    expect(await effectsOf('failing')).toEqual(named('once', 300));
  });

  it('makes the effect of fewer events at a time when a statement for all of them takes too long', async () => {
    const sizes: number[] = [];
    const consumer = consume('slow', {
      handle: async (events, query) => {
        sizes.push(events.length);
        if (events.length > 3) throw Object.assign(new Error('canceling statement due to statement timeout'), { code: '57014' });
        for (const { subject } of events) await query('INSERT INTO effects (consumer, subject) VALUES ($1, $2)', ['slow', subject]);
      },
    });
    await until(async () => (await effectsOf('slow')).length >= 300);
    await consumer.stop();
    expect(await effectsOf('slow')).toEqual(named('once', 300));
    expect(sizes.slice(0, 6)).toEqual([10, 5, 3, 2, 5, 3]);
  });

  it('sets an event aside whose effect always exceeds the time limit of a statement, and a replay of it blocks no other event', async () => {
    const name = 'too slow';
    const consumer = consume(name, {
      retries: { attempts: 3, firstMs: 1, maxMs: 5 },
      handle: async (events, query) => {
        for (const { subject } of events) {
          await query('INSERT INTO effects (consumer, subject) VALUES ($1, $2)', [name, subject]);
          if (subject !== 'usr_once5') continue;
          await query('SET LOCAL statement_timeout = 20');
          await query('SELECT pg_sleep(5)');
        }
      },
    });
    const readFailures = async () =>
      (await own.query<{ failures: number }>('SELECT failures FROM dead_letters WHERE consumer = $1', [name])).map(
        ({ failures }) => failures,
      );
    const others = named('once', 300).filter((id) => id !== 'usr_once5');
    await until(async () => (await effectsOf(name)).length >= others.length);
    expect([await effectsOf(name), await readFailures()]).toEqual([others, [3]]);
    await own.query('UPDATE dead_letters SET "replayAt" = now() WHERE consumer = $1', [name]);
    await until(async () => (await readFailures())[0] === 4);
    await consumer.stop();
    expect(await effectsOf(name)).toEqual(others);
  });

  it('continues where it was after a restart', async () => {
    const consumer = consume('once');
    await insert(['usr_later']);
    await until(async () => (await effectsOf('once')).length > 300);
    await consumer.stop();
    expect((await effectsOf('once')).slice(300)).toEqual(['usr_later']);
  });

  it('reports a gap and begins with the oldest event when its position is gone', async () => {
    const reads: (string | undefined)[] = [];
    const event = { id: 'evt_1', position: '2.evt_1', subject: 'a' } as DomainEvent;
    const gone: EventFeed = {
      source: 'restored',
      read(after, _, signal) {
        reads.push(after);
        if (after === '1.evt_0') return Promise.reject(fail('GONE', 'Gone.'));
        return after === undefined
          ? Promise.resolve([event])
          : new Promise((_, reject) => {
              signal.addEventListener('abort', reject);
            });
      },
    };
    await own.query(`INSERT INTO feed_positions (consumer, source, position) VALUES ('gap', 'restored', '1.evt_0')`);
    let gaps = 0;
    const consumer = consume('gap', { feed: gone, onGap: () => gaps++ });
    await until(() => Promise.resolve(reads.length === 3));
    await consumer.stop();
    expect([gaps, reads, await effectsOf('gap')]).toEqual([1, ['1.evt_0', undefined, '2.evt_1'], ['a']]);
  });
});
