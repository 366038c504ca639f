/** Runs a process from its `main.ts` and ends it in order. */
import cluster from 'node:cluster';
import type { Log } from '@trestle/log';
import { repairJsonParse } from './escaped-keys.ts';
import { watchHeap } from './heap-watch.ts';

/** What a process sends to the parent that spawned it with a channel, once it has started: another program that has its port cannot send it. */
export const READY_MESSAGE = 'ready';
/** How long a stop may take by default. `npm start` gives its processes 6 s. */
const STOP_LIMIT_MS = 8000;

/** How long a start may go on after a signal: the process may listen already, so that requests are in flight. */
const START_LIMIT_MS = 1000;

type Stop = () => Promise<void>;

/** How long a stop may take. */
export interface StopLimits {
  readonly stopLimitMs?: number;
  /** For so long the process goes on to serve. */
  readonly delayMs?: number;
}

/**
 * Runs a process from its `main.ts`. `start` returns the function that stops it. SIGTERM, SIGINT and the end of the parent process that
 * spawned it with a channel stop it once. That parent gets {@link READY_MESSAGE} after the start. The exit code is 0 after a complete stop. It is 1
 * when the start or the stop fails, which is logged, and when the stop takes longer than `delayMs` and `stopLimitMs` together. It is 1 also when
 * the start goes on for more than a second after a signal.
 */
export async function runProcess(log: Log, start: () => Promise<Stop>, limits: StopLimits = {}): Promise<void> {
  repairJsonParse();
  // When the parent ends during the start, the process ends at once: nobody knows its port yet. (Without a channel, `connected` is undefined.)
  const endEarly = () => process.exit(1);
  if ((process.connected as boolean | undefined) === false) endEarly();
  process.on('disconnect', endEarly);
  let stop: Stop | undefined;
  let startLimit: NodeJS.Timeout | undefined;
  let isStopping = false;
  const end = (signal: string) => {
    if (isStopping) return;
    isStopping = true;
    log.info('stopping', { signal });
    if (stop) endInOrder(log, stop, limits);
    else startLimit = setTimeout(endEarly, START_LIMIT_MS);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, end);
  try {
    stop = await start();
    clearTimeout(startLimit);
    watchHeap();
    process.off('disconnect', endEarly);
    announceReady();
    process.on('disconnect', () => {
      end('disconnect');
    });
    if (startLimit) endInOrder(log, stop, limits);
  } catch (error) {
    log.error(startFailure(error), { error });
    process.exit(1);
  }
}

/** Ends the process in time even when a part of it, such as the log, hangs. */
function endInOrder(log: Log, stop: Stop, { stopLimitMs = STOP_LIMIT_MS, delayMs = 0 }: StopLimits): void {
  setTimeout(() => process.exit(1), delayMs + stopLimitMs);
  stop().then(
    () => process.exit(0),
    (error: unknown) => {
      log.error('did not stop cleanly', { error });
      process.exit(1);
    },
  );
}

/** Messages between the primary of a cluster and its workers are their own. A parent that has ended meanwhile is noticed by its disconnection. */
function announceReady(): void {
  if (cluster.isPrimary) process.send?.(READY_MESSAGE, undefined, undefined, () => undefined);
}

function startFailure(error: unknown): string {
  const { code, port } = error as { code?: string; port?: number };
  return code === 'EADDRINUSE' ? `port ${String(port)} is taken` : 'could not start';
}
