/** On a real PostgreSQL without a worker: which jobs are taken from workers that are not seen any more. */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createLog } from '@trestle/log';
import { type TestDatabase, createTestDatabase } from '@trestle/postgres/test-database';
import pg from 'pg';
import { beat, migrateQueue, releaseDeadWorkers } from './queue.ts';

const STALE_MS = 30_000;

let database: TestDatabase;
let pool: pg.Pool;
beforeAll(async () => {
  database = await createTestDatabase({ subgraph: 'content', adminUrl: process.env['TEST_PG_URL'] ?? '' });
  await migrateQueue(database.url, createLog({ service: 'test', level: 'silent' }));
  pool = new pg.Pool({ connectionString: database.url, max: 1 });
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const query = async <Row extends object>(text: string, values: readonly unknown[] = []): Promise<Row[]> =>
  (await pool.query<Row>(text, [...values])).rows;

it('takes no job from a worker when the clock of the database jumps ahead right after the sign of life of the one that judges', async () => {
  await query(`SELECT graphile_worker.add_job('any', job_key => 'job')`);
  await query(`UPDATE graphile_worker._private_jobs SET locked_by = 'other', locked_at = now()`);
  for (const worker of ['other', 'own']) await beat(query, worker);
  // What was written before a jump of a minute is a minute older after it.
  await query(`UPDATE job_workers SET "seenAt" = "seenAt" - interval '1 minute'`);
  await query(`UPDATE graphile_worker._private_jobs SET locked_at = locked_at - interval '1 minute'`);
  expect(await releaseDeadWorkers(query, 'own', STALE_MS)).toBe(0);
  expect(await query('SELECT locked_by FROM graphile_worker.jobs')).toEqual([{ locked_by: 'other' }]);

  await beat(query, 'own');
  expect(await releaseDeadWorkers(query, 'own', STALE_MS)).toBe(1);
  expect(await query('SELECT locked_by FROM graphile_worker.jobs')).toEqual([{ locked_by: null }]);
});
