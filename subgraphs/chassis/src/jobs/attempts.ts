/** Runs attempts at jobs: begins them, bounds their time, and records how they end, with their effect in the same transaction. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '@trestle/log';
import { type ErrorCode, Fault } from '@trestle/schema/errors';
import type { Attempt } from './job-store.ts';
import type { AttemptControl, Completion, JobStores, JobWork, SubgraphJobs } from './job-work.ts';
import type { JobError } from './job.ts';

/** Faults that may be gone at the next attempt. */
const PASSING: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  ...(['INTERNAL_ERROR', 'UPSTREAM_ERROR', 'UPSTREAM_TIMEOUT', 'SERVICE_UNAVAILABLE', 'REQUEST_TIMEOUT'] as const),
]);
const MIN_REPORT_INTERVAL_MS = 1000;
/** How long an attempt may go on after its signal was aborted; then its result no longer counts. */
const GRACE_MS = 2000;

/** Makes the queue call again later. Its message is stored there, so it has nothing of the job. */
export class AttemptFailed extends Error {
  override readonly name = 'AttemptFailed';
}

/** Runs attempts. */
export interface Attempts {
  /** Runs an attempt at a job. Rejects with AttemptFailed when the queue is to start another one; `isLast` says that it will not. */
  run(id: string, options: { readonly isLast: boolean }): Promise<void>;
  /** Fails a job whose worker has stopped during the last attempt. */
  abandon(id: string): Promise<void>;
  /** Aborts attempts that no longer count, because their jobs were cancelled or taken over. */
  abortStale(): Promise<void>;
  /** Aborts all attempts. */
  readonly abortAll: () => void;
}

/** What attempts are run with. */
export interface AttemptsOptions<Stores extends JobStores> extends SubgraphJobs<Stores> {
  readonly timeoutMsOf: (kind: Attempt['kind']) => number;
  readonly log: Log;
}

/** Creates it. */
export function createAttempts<Stores extends JobStores>({ works, transact, stores, timeoutMsOf, log }: AttemptsOptions<Stores>): Attempts {
  const running = new Map<Attempt, AbortController>();

  const work = async (attempt: Attempt, abort: AbortController): Promise<Completion<Stores>> => {
    const { run } = works[attempt.kind] as JobWork<Stores>;
    const timer = setTimeout(() => {
      abort.abort(new Fault('UPSTREAM_TIMEOUT', 'The attempt took too long.'));
    }, timeoutMsOf(attempt.kind));
    try {
      return await Promise.race([run(attempt, createControl(stores, attempt, abort.signal)), rejectAfterAbort(abort.signal)]);
    } finally {
      clearTimeout(timer);
      abort.abort();
    }
  };

  const end = (attempt: Attempt, error: unknown, isFinal: boolean): Promise<boolean> =>
    transact(async (own) => {
      if (!isFinal) return (await own.jobs.postpone(attempt, toJobError(error))) !== undefined;
      const failed = await own.jobs.fail(attempt, toJobError(error));
      if (failed) await works[failed.kind]?.abandon?.(failed, own);
      return failed !== undefined;
    });

  return {
    async run(id, { isLast }) {
      const attempt = await stores.jobs.begin(id);
      // Cancelled, or done by a worker that stopped before it could say so to the queue.
      if (!attempt) return;
      const abort = new AbortController();
      running.set(attempt, abort);
      try {
        const completion = await work(attempt, abort);
        await transact(async (own) => {
          if (!(await own.jobs.succeed(attempt, completion.result))) throw new AttemptFailed('The attempt was replaced or cancelled.');
          await completion.write?.(own);
        });
      } catch (error) {
        if (error instanceof AttemptFailed) throw error;
        const isFinal = isLast || isPermanent(error);
        log.warn('job attempt failed', { operation: attempt.kind, count: attempt.attempts, code: toJobError(error).code, error });
        const isRecorded = await end(attempt, error, isFinal);
        if (!isFinal || !isRecorded) throw new AttemptFailed('The attempt failed.');
      } finally {
        running.delete(attempt);
      }
    },

    async abandon(id) {
      const attempt = await stores.jobs.begin(id);
      if (attempt) await end(attempt, new Error('The worker stopped during the last attempt.'), true);
    },

    async abortStale() {
      if (running.size === 0) return;
      const attempts = [...running.keys()];
      const current = new Set(await stores.jobs.findCurrent(attempts));
      for (const attempt of attempts)
        if (!current.has(attempt.id)) running.get(attempt)?.abort(new AttemptFailed('The job was cancelled.'));
    },

    abortAll() {
      for (const abort of running.values()) abort.abort(new Fault('SERVICE_UNAVAILABLE', 'The process is stopping.'));
    },
  };
}

function createControl({ jobs }: JobStores, attempt: Attempt, signal: AbortSignal): AttemptControl {
  let reportedAt = -Infinity;
  return {
    signal,
    async report(progress) {
      signal.throwIfAborted();
      if (performance.now() - reportedAt < MIN_REPORT_INTERVAL_MS) return;
      reportedAt = performance.now();
      await jobs.report(attempt, Math.min(99, Math.max(0, Math.floor(progress))));
    },
  };
}

/** A work that does not listen to its signal must not hold its place in the worker. */
async function rejectAfterAbort(signal: AbortSignal): Promise<never> {
  await new Promise((resolve) => {
    signal.addEventListener('abort', resolve, { once: true });
  });
  await delay(GRACE_MS, undefined, { ref: false });
  throw signal.reason;
}

function isPermanent(error: unknown): boolean {
  return error instanceof Fault && !PASSING.has(error.code);
}

/** Errors that are no Faults are for the log alone. */
function toJobError(error: unknown): JobError {
  if (error instanceof Fault) return { code: error.code, message: error.message };
  return { code: 'INTERNAL_ERROR', message: 'An internal error occurred.' };
}
