/**
 * Runs the jobs of a subgraph by graphile-worker (ADR 26). All processes of a subgraph work on the same queue. Each sends a sign of life, by
 * which the others take over the jobs of one that was killed: within `DEAD_BEATS` heartbeats and a poll, or as long after their own start.
 */
import type { Log } from '@trestle/log';
import { EventEmitter } from 'node:events';
import { type TaskList, type WorkerEvents, runTaskList } from 'graphile-worker';
import type { Query } from '../database/query.ts';
import { createAttempts } from './attempts.ts';
import { JOB_KINDS, type JobKind } from './job-kinds.ts';
import type { JobStores, SubgraphJobs } from './job-work.ts';
import { SteadyBeats, beat, deleteRemains, findExhausted, forgetWorker, releaseDeadWorkers, toQueueLogger } from './queue.ts';
import { WorkerPool } from './worker-pool.ts';

/** After so many missed heartbeats a worker counts as dead. */
const DEAD_BEATS = 4;
/** With a longer gap between two of its own a worker does not know whether the others could send theirs. */
const MAX_GAP_BEATS = DEAD_BEATS / 2;
const CONCURRENCY = 4;
const POLL_INTERVAL_MS = 1000;
const STATEMENT_TIMEOUT_MS = 10_000;
const STOP_MS = 2000;

/** What a worker is started with. */
export interface JobWorkerOptions<Stores extends JobStores> {
  readonly url: string;
  readonly jobs: SubgraphJobs<Stores>;
  /** The interval of signs of life, in milliseconds. */
  readonly heartbeatMs: number;
  readonly log: Log;
}

/** A running worker. */
export interface JobWorker {
  /** Takes no more jobs. Resolves when the running attempts have ended; those that take longer than 2 s are aborted and queued again. */
  stop(): Promise<void>;
}

/** Starts a worker. The queue must be migrated. Lost connections are opened again. */
export function startJobWorker<Stores extends JobStores>({ url, jobs, heartbeatMs, log }: JobWorkerOptions<Stores>): JobWorker {
  const attempts = createAttempts({ ...jobs, timeoutMsOf: (kind) => JOB_KINDS[kind].timeoutMs, log });
  const pool = new WorkerPool({ connectionString: url, max: CONCURRENCY + 2, statement_timeout: STATEMENT_TIMEOUT_MS });
  // Of its own pool, so that busy requests do not make the worker seem dead.
  const query: Query = async <Row extends object>(text: string, values: readonly unknown[] = []) =>
    (await pool.query<Row>(text, [...values])).rows;
  const tasks = Object.fromEntries(
    (Object.keys(jobs.works) as JobKind[]).map((kind) => [
      kind,
      (payload: unknown, { job }: { job: { attempts: number; max_attempts: number } }) =>
        attempts.run((payload as { id: string }).id, { isLast: job.attempts >= job.max_attempts }),
    ]),
  ) as TaskList;
  const workers = runTaskList(
    {
      pgPool: pool,
      concurrency: CONCURRENCY,
      pollInterval: POLL_INTERVAL_MS,
      noHandleSignals: true,
      logger: toQueueLogger(log),
      events: new EventEmitter() as WorkerEvents,
    },
    tasks,
    pool,
  );
  // Only a connection that fails for good ends it: the process goes on to serve, and its log says that it runs no jobs.
  Promise.resolve(workers.promise).catch((error: unknown) => {
    log.error('job worker ended', { error });
  });
  const steady = new SteadyBeats(DEAD_BEATS, MAX_GAP_BEATS * heartbeatMs);
  const heart = startHeart(
    heartbeatMs,
    async () => {
      const maySeeDead = steady.add(await beat(query, workers.id));
      await attempts.abortStale();
      const dead = maySeeDead ? await releaseDeadWorkers(query, workers.id, DEAD_BEATS * heartbeatMs) : 0;
      if (dead > 0) log.warn('jobs of stopped workers are taken over', { count: dead });
      for (const id of await findExhausted(query)) await attempts.abandon(id);
      await deleteRemains(query);
    },
    log,
  );
  return {
    async stop() {
      const timer = setTimeout(attempts.abortAll, STOP_MS);
      await Promise.resolve(workers.gracefulShutdown()).catch((error: unknown) => {
        log.error('job worker did not stop in order', { error });
      });
      clearTimeout(timer);
      await heart.stop();
      await forgetWorker(query, workers.id).catch(() => undefined);
      await pool.end();
    },
  };
}

/** Calls a function at once and then at an interval, but never twice at the same time. A failure is logged, and the next call follows. */
function startHeart(intervalMs: number, pulse: () => Promise<void>, log: Log): { stop(): Promise<void> } {
  let running: Promise<void> | undefined;
  const call = () => {
    running ??= pulse()
      .catch((error: unknown) => {
        log.warn('job worker could not send a sign of life', { error });
      })
      .finally(() => {
        running = undefined;
      });
  };
  call();
  const timer = setInterval(call, intervalMs);
  return {
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}
