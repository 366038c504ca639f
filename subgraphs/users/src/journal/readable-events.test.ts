/** What readers of the journal read, and what it costs. Against a real PostgreSQL. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Sql, toSqlClient } from '@trestle/chassis/database/sql';
import { createOldTestDatabase } from '@trestle/postgres/old-test-database';
import { type TestDatabase, createTestDatabase } from '@trestle/postgres/test-database';
import type { Audience } from '@trestle/schema/event-types';
import pg from 'pg';
import { countEvents, selectEvents } from './readable-events.ts';
import { type EventScope, isInScope } from './rules.ts';
import { createJournalStore } from './store.ts';

let database: TestDatabase;
let client: pg.Client;
const adminUrl = process.env['TEST_PG_URL'] ?? '';

beforeAll(async () => {
  database = await createTestDatabase({ subgraph: 'users', adminUrl });
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await database.drop();
});
beforeEach(() => client.query('DELETE FROM journal'));

const query = async <Row extends object>(text: string, values: readonly unknown[] = []) =>
  (await client.query<Row>(text, [...values])).rows;
const scopeOf = (role: EventScope['role'], types: readonly string[] | null = null): EventScope => ({ userId: 'usr_a', role, types });

interface Event {
  readonly type: string;
  readonly audience: Audience;
  readonly ownerId: string | null;
}

/** Adds events of today and yesterday, by turns. */
async function append(events: readonly Event[]): Promise<void> {
  await client.query(`SELECT journal_partition((now() AT TIME ZONE 'UTC')::date + day) FROM generate_series(-1, 1) day`);
  await client.query(
    `INSERT INTO journal (position, id, type, source, subject, "ownerId", audience, data, time, "recordedAt")
     SELECT n, 'evt_' || n, e->>'type', 'test', NULL, e->>'ownerId', e->>'audience', '{}', now(), now() - (n % 2) * interval '1 day'
     FROM jsonb_array_elements($1) WITH ORDINALITY AS events(e, n)`,
    [JSON.stringify(events)],
  );
  await client.query('ANALYZE journal');
}

describe('a reader of the journal', () => {
  const TYPES = ['order.paid', 'post.created', 'comment.deleted', 'user.updated', 'family.of-a-newer-release'];
  const EVENTS = TYPES.flatMap((type) =>
    (['PUBLIC', 'USER', 'OWNER', 'ADMIN'] as const).flatMap((audience) =>
      ['usr_a', 'usr_b', null].map((ownerId) => ({ type, audience, ownerId })),
    ),
  );

  it.each(
    (['USER', 'MODERATOR', 'ADMIN'] as const).flatMap((role) =>
      [null, ['*'], ['order.*'], ['post.created'], ['post.*', 'comment.deleted'], ['user.updated', 'order.*', '*'], ['product.*']].map(
        (types) => [role, types] as const,
      ),
    ),
  )('with the role %s gets what the rule says of %j, in order and page by page', async (role, types) => {
    await append(EVENTS);
    const journal = createJournalStore(toSqlClient(query));
    const scope = scopeOf(role, types);
    const expected = EVENTS.flatMap((event, i) => (isInScope(event, scope) ? [i + 1] : []));
    const found = async (after: number, limit: number) => (await journal.readScope(scope, after, limit)).map(({ position }) => position);
    expect(await found(0, 1000)).toEqual(expected);
    expect(await found(17, 5)).toEqual(expected.filter((position) => position > 17).slice(0, 5));
    expect(await query(countEvents(scope).text, countEvents(scope).values)).toEqual([{ count: expected.length }]);
  });

  it('gets all events, in order, as the one of all readers', async () => {
    await append(EVENTS);
    const events = await createJournalStore(toSqlClient(query)).read(3, 500);
    expect(events.map(({ position }) => position)).toEqual(EVENTS.map((_, i) => i + 1).slice(3));
  });
});

interface Plan {
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Actual Loops': number;
  readonly Plans?: readonly Plan[];
}
/** Returns how many rows PostgreSQL reads for a statement and leaves out of its result. */
async function wasteOf({ text, values }: Sql): Promise<number> {
  const [row] = await query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(`EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, values);
  const removed = ({ Plans = [], ...plan }: Plan): number =>
    (plan['Rows Removed by Filter'] ?? 0) * plan['Actual Loops'] + Plans.reduce((sum, child) => sum + removed(child), 0);
  return removed(row?.['QUERY PLAN'][0].Plan ?? { 'Actual Loops': 0 });
}

describe('a page of a reader', () => {
  const own: Event = { type: 'order.paid', audience: 'OWNER', ownerId: 'usr_a' };
  const open: Event = { type: 'video.published', audience: 'PUBLIC', ownerId: 'usr_b' };
  const foreign: readonly Event[] = [
    { type: 'order.paid', audience: 'OWNER', ownerId: 'usr_b' },
    { type: 'user.updated', audience: 'OWNER', ownerId: 'usr_b' },
    { type: 'product.updated', audience: 'PUBLIC', ownerId: null },
  ];

  it.each<[EventScope['role'], readonly string[] | null]>([
    ['USER', ['order.*']],
    ['USER', ['video.published']],
    ['USER', null],
    ['MODERATOR', ['order.*', 'post.*']],
    ['MODERATOR', null],
    ['ADMIN', ['video.published']],
  ])('with the role %s reads no events of others, however many there are, for the types %j', async (role, types) => {
    const noise = types ? foreign : foreign.slice(0, 2);
    await append([...Array.from({ length: 20_000 }, (_, i) => noise[i % noise.length] ?? open), own, open]);
    const statement = selectEvents(scopeOf(role, types), { after: 0, limit: 101 });
    expect((await query(statement.text, statement.values)).length).toBeGreaterThan(0);
    expect(await wasteOf(statement)).toBeLessThan(10);
    // Without types nearly all events of others are public, and counted.
    if (types) expect(await wasteOf(countEvents(scopeOf(role, types)))).toBeLessThan(10);
  });
});

describe('the migration of the indexes', () => {
  it('gives them to the days that exist, and to the next ones', async () => {
    const old = await createOldTestDatabase({ subgraph: 'users', adminUrl, before: '20261222000003_journal_readers' });
    const upgraded = new pg.Client({ connectionString: old.url });
    try {
      await upgraded.connect();
      await upgraded.query(`SELECT journal_partition('2026-01-01')`);
      await old.upgrade();
      await upgraded.query(`SELECT journal_partition('2026-01-02')`);
      const { rows } = await upgraded.query<{ day: string; count: number }>(
        `SELECT tablename AS day, count(*)::int AS count FROM pg_indexes WHERE tablename LIKE 'journal\\_2%' GROUP BY 1 ORDER BY 1`,
      );
      expect(rows).toEqual([
        { day: 'journal_20260101', count: 6 },
        { day: 'journal_20260102', count: 6 },
      ]);
    } finally {
      await upgraded.end();
      await old.drop();
    }
  });
});
