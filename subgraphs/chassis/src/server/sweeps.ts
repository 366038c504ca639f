/** Deletes regularly what is no longer needed: events that have expired, keys of old requests, files that no row names. */
import type { Log } from '@trestle/log';
import { type BackoffLimits, backoffMs } from '@trestle/service/process/backoff';

const INTERVAL_MS = 10 * 60 * 1000;
/** After a failure the sweeps run again earlier than usual. */
const RETRY: BackoffLimits = { firstMs: 5000, maxMs: INTERVAL_MS };

/** A sweep deletes what is no longer needed. It may be run again at any time. */
export type Sweep = () => Promise<void>;

/** The delays of the sweeps, in milliseconds. */
export interface SweepDelays {
  readonly intervalMs: number;
  readonly retry: BackoffLimits;
}

/**
 * Runs the sweeps at the start, for what a crash has left, and then every 10 minutes; one after another, so that they hold one connection
 * to the database at a time. A sweep that fails does not keep the next ones from running. After a failure all run again in 5 s, and later
 * after each further one. The first failure in a row is logged as information and each further one as an error: the database may be away for a moment.
 * `stop` starts no further run.
 */
export function startSweeps(
  log: Pick<Log, 'info' | 'error'>,
  sweeps: readonly Sweep[],
  { intervalMs, retry }: SweepDelays = { intervalMs: INTERVAL_MS, retry: RETRY },
): { readonly stop: () => void } {
  let failures = 0;
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;

  const runAll = async () => {
    const errors = await runInTurn(sweeps);
    if (isStopped) return;
    failures = errors.length === 0 ? 0 : failures + 1;
    for (const error of errors) log[failures === 1 ? 'info' : 'error']('sweep failed', { error });
    timer = setTimeout(() => void runAll(), failures === 0 ? intervalMs : backoffMs(failures, retry)).unref();
  };
  void runAll();
  return {
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}

/** Runs each sweep when the one before has ended. Resolves with the errors. */
async function runInTurn(sweeps: readonly Sweep[]): Promise<unknown[]> {
  const errors: unknown[] = [];
  for (const sweep of sweeps) {
    await sweep().catch((error: unknown) => {
      errors.push(error);
    });
  }
  return errors;
}
