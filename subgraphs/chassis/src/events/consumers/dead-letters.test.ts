/** Events that a consumer sets aside, on real databases. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createLog } from '@trestle/log';
import { type TestDatabase, createTestDatabase } from '@trestle/postgres/test-database';
import { fail } from '@trestle/schema/errors';
import { Registry } from 'prom-client';
import type { Database } from '../../database/database.ts';
import { openTestDatabase } from '../../database/test-database.ts';
import { type ConsumerOptions, type FeedConsumer, consumeFeed } from './consume-feed.ts';
import type { EventFeed } from '../feeds/domain-event.ts';
import { createEvents } from '../source-streams/events.ts';
import { createLocalFeed } from '../feeds/local-feed.ts';

const silent = createLog({ service: 'test', level: 'silent' });
const metrics = new Registry();
const errors: string[] = [];
const log = { ...silent, error: (message: string) => errors.push(message) };
let own: TestDatabase;
let database: Database;
let feed: EventFeed;
let close: () => Promise<void>;
let consumer: FeedConsumer | undefined;
/** Subjects whose events fail, with how they fail. */
const failing = new Map<string, () => Error>();
const effects: { subject: string; version: unknown }[] = [];
let attempts = 0;

beforeAll(async () => {
  own = await createTestDatabase({ subgraph: 'users', adminUrl: process.env['TEST_PG_URL'] ?? '' });
  database = openTestDatabase({ url: own.url });
  const events = createEvents({ url: own.url, database, topics: {}, log: silent });
  feed = createLocalFeed({ source: 'users', database, events, waitMs: 50 });
  close = () => events.close();
});
afterEach(async () => {
  await consumer?.stop();
  failing.clear();
  errors.length = effects.length = attempts = 0;
});
afterAll(async () => {
  await close();
  await database.close();
  await own.drop();
});

const start = (name: string, options: Partial<ConsumerOptions> = {}) => {
  consumer = consumeFeed({
    ...{ feed, consumer: name, database, log, metrics, batch: 10, retries: { attempts: 4, firstMs: 5, maxMs: 10 } },
    handle(events) {
      for (const { subject } of events) {
        const error = failing.get(subject)?.();
        if (error) attempts++;
        if (error) throw error;
      }
      effects.push(...events.map(({ subject, data }) => ({ subject, version: data['version'] })));
      return Promise.resolve();
    },
    ...options,
  });
};
const insert = (ids: readonly string[]) =>
  database.query(`INSERT INTO users (id, email, name) SELECT id, id || '@example.org', 'X' FROM unnest($1::text[]) id`, [ids]);
const change = (id: string) => database.query('UPDATE users SET age = coalesce(age, 0) + 1, version = version + 1 WHERE id = $1', [id]);
const lettersOf = (name: string) =>
  database.query<{ subject: string; error: string | null; failures: number }>(
    'SELECT "subject", "error", "failures" FROM "dead_letters" WHERE "consumer" = $1 ORDER BY "number"',
    [name],
  );
const requestReplay = (name: string) => database.query('UPDATE "dead_letters" SET "replayAt" = now() WHERE "consumer" = $1', [name]);
const gaugeOf = async (name: string) => {
  const line = (await metrics.getSingleMetricAsString('trestle_events_set_aside')).split('\n').find((each) => each.includes(`"${name}"`));
  return Number(line?.split(' ').at(-1));
};
const versionsOf = (subject: string) => effects.filter((effect) => effect.subject === subject).map(({ version }) => version);
async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await database.query('SELECT pg_sleep(0.01)');
}

describe('an event whose effect always fails', () => {
  it('is set aside with its error, and later events of its subject wait behind it while all others are consumed', async () => {
    failing.set('usr_a2', () => new Error('Bad event.'));
    await insert(['usr_a1', 'usr_a2', 'usr_a3']);
    await change('usr_a2');
    start('aside');
    await until(async () => (await lettersOf('aside')).length === 2);
    await insert(['usr_a4']);
    await change('usr_a2');
    await until(() => effects.some(({ subject }) => subject === 'usr_a4'));
    await until(async () => (await gaugeOf('aside')) === 3);
    expect(effects.map(({ subject }) => subject)).toEqual(['usr_a1', 'usr_a3', 'usr_a4']);
    expect(await lettersOf('aside')).toEqual([
      { subject: 'usr_a2', error: 'Error: Bad event.', failures: 4 },
      { subject: 'usr_a2', error: null, failures: 0 },
      { subject: 'usr_a2', error: null, failures: 0 },
    ]);
    expect(errors).toEqual([
      expect.stringMatching(/^aside cannot consume user\.created evt_\w+ of users: it is set aside after 4 attempts/),
    ]);
    // Once with the others of its batch.
    expect(attempts).toBe(5);
  });

  it('is consumed again on request, and then those behind it in their order', async () => {
    failing.set('usr_a2', () => new Error('Still bad.'));
    start('aside');
    await requestReplay('aside');
    await until(async () => (await lettersOf('aside'))[0]?.error === 'Error: Still bad.');
    expect((await lettersOf('aside')).map(({ failures }) => failures)).toEqual([5, 0, 0]);
    failing.clear();
    await requestReplay('aside');
    await change('usr_a2');
    await until(() => effects.length === 4);
    expect(versionsOf('usr_a2')).toEqual([1, 2, 3, 4]);
    await until(async () => (await gaugeOf('aside')) === 0);
    expect(await lettersOf('aside')).toEqual([]);
  });

  it('is given up when an operator deletes it, and those behind it are consumed', async () => {
    await insert(['usr_b1']);
    failing.set('usr_b1', () => new Error('Bad event.'));
    start('given-up');
    await until(async () => (await lettersOf('given-up')).length === 1);
    await change('usr_b1');
    await until(async () => (await lettersOf('given-up')).length === 2);
    failing.clear();
    await database.query('DELETE FROM "dead_letters" WHERE "consumer" = $1 AND "error" IS NOT NULL', ['given-up']);
    await until(() => versionsOf('usr_b1').length > 0);
    expect(versionsOf('usr_b1')).toEqual([2]);
  });

  it('fails as often in several processes and over restarts as in one', async () => {
    await insert(['usr_c1']);
    failing.set('usr_c1', () => new Error('Bad event.'));
    start('restarted', { retries: { attempts: 1000, firstMs: 5, maxMs: 5 } });
    await until(() => attempts > 2);
    await consumer?.stop();
    const [stored] = await database.query<{ failures: number }>(`SELECT "failures" FROM "feed_positions" WHERE "consumer" = 'restarted'`);
    start('restarted', { retries: { attempts: (stored?.failures ?? 0) + 1, firstMs: 5, maxMs: 5 } });
    await until(async () => (await lettersOf('restarted')).length === 1);
    expect(await lettersOf('restarted')).toMatchObject([{ failures: (stored?.failures ?? 0) + 1 }]);
  });
});

describe('a fault of the database or of another service', () => {
  it('sets nothing aside, however often it comes', async () => {
    const faults = [
      Object.assign(new Error('terminating connection'), { code: '57P01' }),
      Object.assign(new Error('deadlock detected'), { code: '40P01' }),
      Object.assign(new Error('canceling statement'), { code: '57014' }),
      new Error('timeout exceeded when trying to connect'),
      fail('UPSTREAM_ERROR', 'The service does not respond.'),
    ];
    await insert(['usr_d1']);
    failing.set('usr_d1', () => faults[attempts % faults.length] as Error);
    start('transient');
    await until(() => attempts >= faults.length);
    failing.clear();
    await until(() => effects.some(({ subject }) => subject === 'usr_d1'));
    expect(await lettersOf('transient')).toEqual([]);
  });
});
