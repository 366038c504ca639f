/** Runs a process from its `main.ts` and ends it in order. */
import type { Log } from '@trestle/log';
import { watchHeap } from './heap-watch.ts';

/** How long everything may take after the signal, unless the process says otherwise; `npm start` gives its processes 6 s. */
const STOP_LIMIT_MS = 8000;

/**
 * Runs a process from its `main.ts`: `start` gives what stops it again. SIGTERM, SIGINT and the end of the parent that
 * spawned it with a channel all stop it once and in order. A start that fails is logged and ends the process with 1; so does a stop
 * that takes longer than `delayMs`, for which the process goes on to serve, and `stopLimitMs` together.
 */
export async function runProcess(
  log: Log,
  start: () => Promise<() => Promise<void>>,
  { stopLimitMs = STOP_LIMIT_MS, delayMs = 0 }: { readonly stopLimitMs?: number; readonly delayMs?: number } = {},
): Promise<void> {
  // A parent that ends while we start must not leave us behind; nothing is in hand yet. (Without a parent's channel it is undefined.)
  const endEarly = () => process.exit(1);
  if ((process.connected as boolean | undefined) === false) endEarly();
  process.on('disconnect', endEarly);
  try {
    const stop = await start();
    watchHeap();
    process.off('disconnect', endEarly);
    let stopping = false;
    const end = (signal: string) => {
      if (stopping) return;
      stopping = true;
      log.info('stopping', { signal });
      // Whatever hangs on the way down, the log included, a process that was told to stop is gone in time.
      setTimeout(() => process.exit(1), delayMs + stopLimitMs);
      stop().then(
        () => process.exit(0),
        (error: unknown) => {
          log.error('did not stop cleanly', { error });
          process.exit(1);
        },
      );
    };
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, end);
    process.on('disconnect', () => {
      end('disconnect');
    });
  } catch (error) {
    log.error(startFailure(error), { error });
    process.exit(1);
  }
}

function startFailure(error: unknown): string {
  const { code, port } = error as { code?: string; port?: number };
  return code === 'EADDRINUSE' ? `port ${String(port)} is taken` : 'could not start';
}
