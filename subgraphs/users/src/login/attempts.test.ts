/** The limits of attempts, against a real PostgreSQL (issue 13, ADR 20). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Database } from '@trestle/chassis/database/database';
import { openTestDatabase } from '@trestle/chassis/database/test-database';
import { createIds } from '@trestle/chassis/values/ids';
import { type TestDatabase, createTestDatabase } from '@trestle/postgres/test-database';
import { type Transact, type UsersStores, openUsersStores } from '../stores.ts';
import { ATTEMPT_LIMITS } from './attempt-limits.ts';
import { type Attempt, type Attempts, createAttempts } from './attempts.ts';

let testDatabase: TestDatabase;
let database: Database;
let stores: UsersStores;
let transact: Transact;
let close: () => Promise<void>;
let attempts: Attempts;

beforeAll(async () => {
  testDatabase = await createTestDatabase({ subgraph: 'users', adminUrl: process.env['TEST_PG_URL'] ?? '' });
  database = openTestDatabase({ url: testDatabase.url });
  const opened = openUsersStores({ database, createId: createIds({ now: Date.now }), clock: () => new Date() });
  ({ transact, close } = opened);
  ({ stores } = opened.idempotency);
  attempts = createAttempts({ transact, secret: 'a secret of the tests' });
});
afterAll(async () => {
  await close();
  await database.close();
  await testDatabase.drop();
});

let count = 0;
const attemptOf = (given: Partial<Attempt> & { readonly network?: string | null } = {}): Attempt => ({
  kind: 'login',
  subject: `person${String(++count)}@example.org`,
  userId: undefined,
  client: { device: 'curl', address: '203.0.113.0/24', network: given.network ?? null },
  ...given,
});
const fails = () => Promise.resolve(null);
const succeeds = () => Promise.resolve('account');
/** Ends the delays that run, as if their time had passed. */
const endDelays = () => database.query(`UPDATE "failed_attempts" SET "blockedUntil" = clock_timestamp()`);
/** Has the delays that run last for an hour, so that they do not end while a busy machine runs the test. */
const prolongDelays = () =>
  database.query(`UPDATE "failed_attempts" SET "blockedUntil" = clock_timestamp() + interval '1 hour' WHERE "failures" >= 10`);
const failTimes = async (times: number, attempt: Attempt) => {
  for (let i = 0; i < times; i++) expect(await attempts.run(attempt, fails)).toBeNull();
};
const retryAfterOf = (attempt: Attempt) =>
  attempts.run(attempt, succeeds).then(
    () => 0,
    (error: unknown) => (error as { retryAfterSeconds: number }).retryAfterSeconds,
  );

describe('attempts at one account', () => {
  it('are refused for 1 second after ten failures, and twice as long after each further one, up to 15 minutes', async () => {
    const attempt = attemptOf();
    await failTimes(10, attempt);
    const delays: number[] = [];
    for (let i = 0; i < 12; i++) {
      delays.push(await retryAfterOf(attempt));
      await endDelays();
      await failTimes(1, attempt);
    }
    expect(delays).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]);
  });

  it('are refused without a check during a delay, so that the right password teaches a guesser nothing', async () => {
    const attempt = attemptOf();
    await failTimes(10, attempt);
    let checks = 0;
    const check = () => Promise.resolve(`check ${String(++checks)}`);
    const refusal = attempts.run(attempt, check);
    await expect(refusal).rejects.toMatchObject({
      code: 'RATE_LIMIT_EXCEEDED',
      retryAfterSeconds: 1,
      rateLimit: { limit: 10, remaining: 0, resetAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/) },
    });
    expect(checks).toBe(0);
  });

  it('are checked at most ten times when many come at once', async () => {
    const attempt = attemptOf();
    let checks = 0;
    const outcomes = await Promise.allSettled(
      Array.from({ length: 40 }, () =>
        attempts.run(attempt, async () => {
          if (++checks === 10) await prolongDelays();
          return fails();
        }),
      ),
    );
    expect(checks).toBe(10);
    expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(30);
  });

  it('begin again at none after a success, and after 24 hours', async () => {
    const attempt = attemptOf();
    await failTimes(9, attempt);
    expect(await attempts.run(attempt, succeeds)).toBe('account');
    await failTimes(9, attempt);
    await database.query(`UPDATE "failed_attempts" SET "expiresAt" = "expiresAt" - interval '24 hours'`);
    await failTimes(9, attempt);
    expect(await retryAfterOf(attempt)).toBe(0);
  });

  it('do not count when they could not be checked', async () => {
    const attempt = attemptOf({ network: 'busy' });
    const overloaded = () => Promise.reject(new Error('overloaded'));
    for (let i = 0; i < 60; i++) await expect(attempts.run(attempt, overloaded)).rejects.toThrow('overloaded');
    expect(await attempts.run(attempt, succeeds)).toBe('account');
  });

  it('are not refused when many correct ones are made at once', async () => {
    const attempt = attemptOf();
    const results = await Promise.all(Array.from({ length: 40 }, () => attempts.run(attempt, succeeds)));
    expect(new Set(results)).toEqual(new Set(['account']));
  });

  it('count for each kind alone: a correct password does not reset the codes', async () => {
    const attempt = attemptOf();
    await failTimes(10, { ...attempt, kind: 'code' });
    expect(await attempts.run(attempt, succeeds)).toBe('account');
    expect(await retryAfterOf({ ...attempt, kind: 'code' })).toBe(1);
  });
});

describe('attempts from one network', () => {
  it('are refused after fifty failures at any accounts, for at most a minute, and successes do not reset that', async () => {
    const { firstDelayed } = ATTEMPT_LIMITS.network;
    for (let i = 0; i < firstDelayed; i++) {
      await failTimes(1, attemptOf({ network: 'office' }));
      if (i < firstDelayed - 1) expect(await attempts.run(attemptOf({ network: 'office' }), succeeds)).toBe('account');
    }
    const delays: number[] = [];
    for (let i = 0; i < 8; i++) {
      delays.push(await retryAfterOf(attemptOf({ network: 'office' })));
      await endDelays();
      await failTimes(1, attemptOf({ network: 'office' }));
    }
    expect(delays).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
    expect(await attempts.run(attemptOf({ network: 'home' }), succeeds)).toBe('account');
  });

  it('are not counted when it is the machine itself: its proxy may stand for everybody', async () => {
    const client = { device: 'curl', address: '127.0.0.0/24', network: 'loopback' };
    for (let i = 0; i < ATTEMPT_LIMITS.network.firstDelayed + 5; i++) await failTimes(1, attemptOf({ client }));
    expect(await attempts.run(attemptOf({ client }), succeeds)).toBe('account');
  });

  it('do not count at the account when the network is refused', async () => {
    const attempt = attemptOf({ network: 'café' });
    for (let i = 0; i < ATTEMPT_LIMITS.network.firstDelayed; i++) await failTimes(1, attemptOf({ network: 'café' }));
    await prolongDelays();
    for (let i = 0; i < 20; i++) expect(await retryAfterOf(attempt)).toBeGreaterThan(3000);
    expect(await attempts.run({ ...attempt, client: attemptOf().client }, succeeds)).toBe('account');
  });
});

describe('the audit trail', () => {
  it('records each failure, and each delay that begins, but no refusals', async () => {
    const attempt = attemptOf({ userId: 'usr_audited' });
    await failTimes(10, attempt);
    await retryAfterOf(attempt);
    const events = await database.query(
      `SELECT "type", "detail", count(*)::int FROM "security_events" WHERE "userId" = 'usr_audited' GROUP BY 1, 2 ORDER BY 1`,
    );
    expect(events).toEqual([
      { type: 'LOGIN_DELAYED', detail: 'login: 1 s', count: 1 },
      { type: 'LOGIN_FAILED', detail: null, count: 10 },
    ]);
  });

  it('has rows of attempts that reveal neither addresses nor networks, and that are deleted when they are forgotten', async () => {
    await failTimes(1, attemptOf({ subject: 'secret@example.org', network: 'a network' }));
    const rows = await database.query<{ row: string }>(`SELECT f::text AS row FROM "failed_attempts" f`);
    expect(rows.length).toBeGreaterThan(1);
    for (const { row } of rows) expect(row).not.toMatch(/secret@example\.org|a network/);
    await database.query(`UPDATE "failed_attempts" SET "expiresAt" = now() - interval '1 second'`);
    await stores.attempts.sweep();
    expect(await database.query(`SELECT FROM "failed_attempts"`)).toHaveLength(0);
  });
});
