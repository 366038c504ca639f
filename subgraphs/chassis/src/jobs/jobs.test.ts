/** Jobs on a real PostgreSQL with graphile-worker: what is acknowledged is done once, whatever ends an attempt. */
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { createLog } from '@trestle/log';
import { type TestDatabase, createTestDatabase } from '@trestle/postgres/test-database';
import { fail } from '@trestle/schema/errors';
import pg from 'pg';
import type { Sql, SqlClient } from '../database/sql.ts';
import { createIds } from '../values/ids.ts';
import { type JobChange, createJobControl } from './job-control.ts';
import { type JobKind, jobKindOf } from './job-kinds.ts';
import { type JobStore, createJobStore } from './job-store.ts';
import type { AttemptControl, JobStores, JobWork, SubgraphJobs } from './job-work.ts';
import { migrateQueue } from './queue.ts';
import { type JobWorker, startJobWorker } from './worker.ts';

interface Stores extends JobStores {
  /** Adds a line to the table `effects`. */
  readonly effect: (text: string) => Promise<void>;
}

const log = createLog({ service: 'test', level: 'silent' });
const createId = createIds({ now: Date.now });
let testDatabase: TestDatabase;
let pool: pg.Pool;
let jobs: JobStore;
let subgraphJobs: SubgraphJobs<Stores>;
let worker: JobWorker;
/** What the next attempts do, by the input of the job. */
const behaviours = new Map<unknown, JobWork<Stores>['run']>();

const toClient = (client: Pick<pg.Pool, 'query'>): SqlClient => ({
  $queryRaw: async <T>({ text, values }: Sql) => (await client.query(text, values)).rows as T,
  $executeRaw: async ({ text, values }: Sql) => (await client.query(text, values)).rowCount ?? 0,
});
const toStores = (client: Pick<pg.Pool, 'query'>): Stores => ({
  jobs: createJobStore({ prisma: toClient(client), createId, clock: () => new Date() }),
  effect: async (text) => {
    await client.query('INSERT INTO effects VALUES ($1)', [text]);
  },
});
const transact = async <T>(work: (stores: Stores) => Promise<T>): Promise<T> => {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    const result = await work(toStores(client));
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  } finally {
    client.release();
  }
};
const rowsOf = async <Row>(text: string, values: unknown[] = []) => (await pool.query(text, values)).rows as Row[];
const effectsOf = async (text: string) => (await rowsOf('SELECT FROM effects WHERE text = $1', [text])).length;
const recordOf = async (id: string) => (await jobs.findByIds([id], { filter: {}, visibility: 'all' }))[0];

/** Enqueues a job whose attempts behave in this way. */
async function enqueue(name: string, run: JobWork<Stores>['run']) {
  behaviours.set(name, run);
  return transact(({ jobs: own }) => own.enqueue({ kind: 'SEND_MAIL', input: { name }, ownerId: 'usr_1' }));
}

async function until(id: string, status: string) {
  for (;;) {
    const job = await recordOf(id);
    if (job?.status === status) return job;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Has the queue start the next attempt now. */
const hurry = (id: string) => pool.query('UPDATE graphile_worker._private_jobs SET run_at = now() WHERE key = $1', [id]);

const succeed = (text: string) => () => Promise.resolve({ result: { text }, write: (stores: Stores) => stores.effect(text) });
/** Resolves when the attempt is aborted. */
const aborted = ({ signal }: AttemptControl) =>
  new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => {
      resolve();
    });
  });

const cancel = (change: JobChange) => transact((stores) => createJobControl(subgraphJobs).cancel(stores, change));

beforeAll(async () => {
  testDatabase = await createTestDatabase({ subgraph: 'content', adminUrl: process.env['TEST_PG_URL'] ?? '' });
  pool = new pg.Pool({ connectionString: testDatabase.url });
  pool.on('error', () => undefined);
  await pool.query('CREATE TABLE effects (text text)');
  await Promise.all([migrateQueue(testDatabase.url, log), migrateQueue(testDatabase.url, log)]);
  jobs = toStores(pool).jobs;
  const work: JobWork<Stores> = {
    run: (attempt, control) => (behaviours.get(attempt.input['name']) as JobWork<Stores>['run'])(attempt, control),
    abandon: (job, stores) => stores.effect(`abandoned ${job.id}`),
    resume: (job, stores) => stores.effect(`resumed ${job.id}`),
  };
  subgraphJobs = { works: { SEND_MAIL: work }, transact, stores: toStores(pool) };
  worker = startJobWorker({ url: testDatabase.url, jobs: subgraphJobs, heartbeatMs: 100, log });
});
afterAll(async () => {
  await worker.stop();
  await pool.end();
  await testDatabase.drop();
});

describe('a job', () => {
  it('is done after its transaction, with its effect and its result', async () => {
    const { id, status, version } = await enqueue('simple', succeed('simple'));
    expect({ status, version, kind: jobKindOf(id) }).toEqual({ status: 'QUEUED', version: 1, kind: 'SEND_MAIL' });
    const done = await until(id, 'SUCCEEDED');
    expect(done).toMatchObject({ progress: 100, result: { text: 'simple' }, attempts: 1, version: 3, errorCode: null });
    expect(await effectsOf('simple')).toBe(1);
    expect(await rowsOf('SELECT input FROM jobs WHERE id = $1', [id])).toEqual([{ input: {} }]);
  });

  it('does not exist when its transaction is rolled back', async () => {
    const enqueueAndFail = transact(async ({ jobs: own }) => {
      await own.enqueue({ kind: 'SEND_MAIL', input: { name: 'simple' }, ownerId: null });
      throw new Error('rolled back');
    });
    await expect(enqueueAndFail).rejects.toThrow('rolled back');
    expect(await rowsOf('SELECT FROM jobs WHERE "ownerId" IS NULL')).toEqual([]);
    // The worker may not have removed the row of a finished job yet.
    expect(await rowsOf('SELECT FROM graphile_worker.jobs WHERE key NOT IN (SELECT id FROM jobs)')).toEqual([]);
  });

  it('is attempted again after an unknown error, which clients do not see', async () => {
    const { id } = await enqueue('again', ({ attempts }) => (attempts < 3 ? Promise.reject(new Error('secret')) : succeed('again')()));
    const postponed = await until(id, 'QUEUED').then(async () => {
      while ((await recordOf(id))?.errorCode === null) await new Promise((resolve) => setTimeout(resolve, 20));
      return recordOf(id);
    });
    expect(postponed).toMatchObject({ errorCode: 'INTERNAL_ERROR', errorMessage: 'An internal error occurred.' });
    while ((await recordOf(id))?.status !== 'SUCCEEDED') await hurry(id);
    expect(await recordOf(id)).toMatchObject({ attempts: 3, errorCode: null });
    expect(await effectsOf('again')).toBe(1);
  });

  it('fails at once with an error that a further attempt cannot change, and can be retried by hand', async () => {
    const control = createJobControl(subgraphJobs);
    const { id } = await enqueue('faulty', () => Promise.reject(fail('BUSINESS_RULE_VIOLATION', 'The address is unknown.')));
    const failed = await until(id, 'FAILED');
    expect(failed).toMatchObject({ attempts: 1, errorCode: 'BUSINESS_RULE_VIOLATION', errorMessage: 'The address is unknown.' });
    expect(await effectsOf(`abandoned ${id}`)).toBe(1);
    behaviours.set('faulty', succeed('faulty'));
    const change = { id, visibility: 'all' as const };
    const retry = (changed: JobChange) => transact((own) => control.retry(own, changed));
    await expect(retry({ ...change, expectedVersions: [1] })).rejects.toMatchObject({ code: 'PRECONDITION_FAILED' });
    await expect(retry({ ...change, visibility: { ownerId: 'usr_2' } })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await retry(change)).toMatchObject({ status: 'QUEUED' });
    expect(await until(id, 'SUCCEEDED')).toMatchObject({ attempts: 2 });
    expect([await effectsOf(`resumed ${id}`), await effectsOf('faulty')]).toEqual([1, 1]);
    await expect(retry(change)).rejects.toMatchObject({ code: 'BUSINESS_RULE_VIOLATION' });
  });

  it('fails when its attempts are used up', async () => {
    const { id } = await enqueue('never', () => Promise.reject(new Error('never')));
    while ((await recordOf(id))?.status !== 'FAILED') await hurry(id);
    expect(await recordOf(id)).toMatchObject({ attempts: 8, errorCode: 'INTERNAL_ERROR' });
    expect(await effectsOf(`abandoned ${id}`)).toBe(1);
    // The worker removes its own row after the job's record has changed.
    while ((await rowsOf('SELECT FROM graphile_worker.jobs WHERE key = $1', [id])).length > 0) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  });

  it('has no effect when it is cancelled while it runs', async () => {
    const { id } = await enqueue('cancelled', async (_, control) => {
      await aborted(control);
      return succeed('cancelled')();
    });
    await until(id, 'RUNNING');
    expect(await cancel({ id, visibility: { ownerId: 'usr_1' } })).toMatchObject({ status: 'CANCELLED' });
    while ((await rowsOf('SELECT FROM graphile_worker.jobs')).length > 0) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await recordOf(id)).toMatchObject({ status: 'CANCELLED', attempts: 1 });
    expect([await effectsOf('cancelled'), await effectsOf(`abandoned ${id}`)]).toEqual([0, 1]);
  });

  it('is taken over from a worker that is not seen any more, whose late effect does not count', async () => {
    let finishLate: () => void = () => undefined;
    const late = new Promise<void>((resolve) => (finishLate = resolve));
    const { id } = await enqueue('late', async ({ attempts }) => {
      if (attempts === 1) await late;
      return succeed(`late ${String(attempts)}`)();
    });
    await until(id, 'RUNNING');
    // As if the worker were another, suspended process: its lock has an unknown name.
    await pool.query(
      `UPDATE graphile_worker._private_jobs SET locked_by = 'pool-gone', locked_at = now() - interval '1 minute' WHERE key = $1`,
      [id],
    );
    expect(await until(id, 'SUCCEEDED')).toMatchObject({ attempts: 2 });
    finishLate();
    await until((await enqueue('next', succeed('next'))).id, 'SUCCEEDED');
    expect([await effectsOf('late 1'), await effectsOf('late 2')]).toEqual([0, 1]);
  });

  it('stays with its worker when the clock of the database jumps ahead', async () => {
    const other = startJobWorker({ url: testDatabase.url, jobs: subgraphJobs, heartbeatMs: 100, log });
    const isFresh = `"seenAt" > now() - interval '30 seconds'`;
    const countFresh = async () => (await rowsOf(`SELECT FROM job_workers WHERE ${isFresh}`)).length;
    while ((await countFresh()) < 2);
    let finish: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (finish = resolve));
    const { id } = await enqueue('jump', () => held.then(succeed('jump')));
    await until(id, 'RUNNING');
    for (let jump = 0; jump < 10; jump++) {
      // What was written before a jump of a minute is a minute older after it.
      await pool.query(`
        WITH older AS (UPDATE job_workers SET "seenAt" = "seenAt" - interval '1 minute')
        UPDATE graphile_worker._private_jobs SET locked_at = locked_at - interval '1 minute' WHERE locked_at IS NOT NULL`);
      while ((await countFresh()) < 2);
    }
    finish();
    const done = await until(id, 'SUCCEEDED');
    await other.stop();
    expect(done).toMatchObject({ attempts: 1 });
  });

  it('leaves the queue when the connection that reports its end is lost', async () => {
    let finish: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (finish = resolve));
    const { id } = await enqueue('cut', () => held.then(succeed('cut')));
    await until(id, 'RUNNING');
    const locking = await pool.connect();
    await locking.query('BEGIN');
    await locking.query('SELECT FROM graphile_worker._private_jobs WHERE key = $1 FOR UPDATE', [id]);
    finish();
    const waiting = `FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE 'delete%'`;
    while ((await rowsOf(`SELECT pg_terminate_backend(pid) ${waiting}`)).length === 0);
    await locking.query('COMMIT');
    locking.release();
    while ((await rowsOf('SELECT FROM graphile_worker._private_jobs WHERE key = $1', [id])).length > 0);
    expect([(await recordOf(id))?.status, await effectsOf('cut')]).toEqual(['SUCCEEDED', 1]);
  });

  it('fails when a worker has stopped at every attempt', async () => {
    const { id } = await enqueue('deadly', (_, control) => aborted(control).then(() => succeed('deadly')()));
    await until(id, 'RUNNING');
    await pool.query(
      `UPDATE graphile_worker._private_jobs SET attempts = max_attempts, locked_by = 'pool-gone', locked_at = now() - interval '1 minute' WHERE key = $1`,
      [id],
    );
    await until(id, 'FAILED');
    expect([await effectsOf('deadly'), await effectsOf(`abandoned ${id}`)]).toEqual([0, 1]);
  });

  it('reports its progress, which never goes back', async () => {
    const { id } = await enqueue('progress', async (_, control) => {
      await control.report(40);
      await control.report(50);
      await aborted(control);
      return succeed('progress')();
    });
    while ((await recordOf(id))?.progress !== 40) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await jobs.report({ id, attempts: 1 }, 30)).toBeUndefined();
    await cancel({ id, visibility: 'all' });
  });
});

describe('the progress of a job', () => {
  it('is reported when the clock of the machine goes back', async () => {
    const { id } = await enqueue('clock', async (_, control) => {
      await control.report(10);
      while (!control.signal.aborted) await control.report(20).then(() => new Promise((resolve) => setTimeout(resolve, 20)));
      return succeed('clock')();
    });
    while ((await recordOf(id))?.progress !== 10) await new Promise((resolve) => setTimeout(resolve, 20));
    const clock = jest.spyOn(Date, 'now').mockReturnValue(Date.now() - 3_600_000);
    while ((await recordOf(id))?.progress !== 20) await new Promise((resolve) => setTimeout(resolve, 20));
    clock.mockRestore();
    await cancel({ id, visibility: 'all' });
  });
});

describe('findByIds', () => {
  it('shows a job to its account and to administrators alone, and one of an anonymous caller to anybody who knows its id', async () => {
    const add = (kind: JobKind, ownerId: string | null) => jobs.enqueue({ kind, input: { name: 'seen' }, ownerId });
    behaviours.set('seen', succeed('seen'));
    const own = await add('SEND_MAIL', 'usr_9');
    const unowned = await add('RESET_PASSWORD', null);
    const internal = await add('SEND_MAIL', null);
    const ids = [own.id, unowned.id, internal.id];
    const seenBy = async (ownerId: string | null) =>
      (await jobs.findByIds(ids, { filter: {}, visibility: { ownerId } })).map(({ id }) => id);
    expect((await seenBy('usr_9')).sort()).toEqual([own.id, unowned.id].sort());
    expect([await seenBy('usr_8'), await seenBy(null)]).toEqual([[unowned.id], [unowned.id]]);
  });
});
