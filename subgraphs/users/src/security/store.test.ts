/** The audit trail against a real PostgreSQL. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Database } from '@trestle/chassis/database/database';
import { openTestDatabase } from '@trestle/chassis/database/test-database';
import { createIds } from '@trestle/chassis/values/ids';
import { withClient } from '@trestle/postgres/client';
import { type TestDatabase, createTestDatabase } from '@trestle/postgres/test-database';
import { type UsersStores, openUsersStores } from '../stores.ts';

let testDatabase: TestDatabase;
let database: Database;
let stores: UsersStores;
let close: () => Promise<void>;

beforeAll(async () => {
  testDatabase = await createTestDatabase({ subgraph: 'users', adminUrl: process.env['TEST_PG_URL'] ?? '' });
  database = openTestDatabase({ url: testDatabase.url });
  const opened = openUsersStores({ database, createId: createIds({ now: Date.now }), clock: () => new Date() });
  stores = opened.idempotency.stores;
  close = opened.close;
});
afterAll(async () => {
  await close();
  await database.close();
  await testDatabase.drop();
});

const run = (text: string, values: readonly unknown[] = []) =>
  withClient(testDatabase.url, async (client) => (await client.query(text, [...values])).rows as Record<string, unknown>[]);
/** Inserts as many events of this age. */
const insert = (userId: string, days: number, count = 1) =>
  run(
    `INSERT INTO "security_events" ("id", "type", "userId", "createdAt")
     SELECT 'sev_' || $1 || n, 'LOGIN_FAILED', $1, now() - make_interval(days => $2::int) FROM generate_series(1, $3::int) n`,
    [userId, days, count],
  );
const countOf = (userId: string) => stores.securityEvents.count({ userId });

describe('the audit trail', () => {
  it('loses events that are older than the retention, in batches, and no others', async () => {
    await insert('usr_old', 91, 2500);
    await insert('usr_young', 89);
    await stores.securityEvents.sweep(90);
    expect([await countOf('usr_old'), await countOf('usr_young')]).toEqual([0, 1]);
  });

  it('keeps the events of the last 30 days, whatever the retention', async () => {
    await insert('usr_29', 29);
    await insert('usr_31', 31);
    await stores.securityEvents.sweep(0);
    expect([await countOf('usr_29'), await countOf('usr_31')]).toEqual([1, 0]);
  });

  it.each([
    ['a change', `UPDATE "security_events" SET "type" = 'X'`],
    ['a deletion of old events', `DELETE FROM "security_events" WHERE "createdAt" < now() - interval '30 days'`],
    ['a deletion of young events that claims to be a sweep', `SET trestle.is_sweep = 'on'; DELETE FROM "security_events"`],
    ['a truncation', `TRUNCATE "security_events"`],
  ])('refuses %s', async (_, statement) => {
    await insert(`usr_${String(statement.length)}`, 29);
    await insert(`usr_${String(statement.length)}_old`, 99);
    await expect(run(statement)).rejects.toThrow('never changed or deleted');
    expect(await countOf(`usr_${String(statement.length)}_old`)).toBe(1);
  });
});
