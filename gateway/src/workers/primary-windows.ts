/** The windows of rate limits that the primary counts for all workers. What one turn of the event loop takes is asked for in one message. */
import type { SharedWindows } from '@trestle/limits/rate-limiter';
import type { Count } from '@trestle/limits/sliding-windows';
import type { FromPrimary, FromWorker, Take } from './messages.ts';

/** How long the primary may take to reply. Without a reply, this worker counts alone. */
const REPLY_TIMEOUT_MS = 1000;

type Settle = (count: Count | undefined) => void;

export interface PrimaryWindows {
  readonly windows: SharedWindows;
  readonly receive: (message: Extract<FromPrimary, { kind: 'taken' }>) => void;
}

export function createPrimaryWindows(send: (message: FromWorker) => void): PrimaryWindows {
  /** What is not sent yet. */
  let takes: Take[] = [];
  let settles: Settle[] = [];
  const waiting = new Map<number, (counts: readonly Count[]) => void>();
  let last = 0;
  const flush = () => {
    const id = ++last;
    const asked = settles;
    const settle = (counts: readonly Count[]) => {
      clearTimeout(timer);
      waiting.delete(id);
      for (const [i, each] of asked.entries()) each(counts[i]);
    };
    const timer = setTimeout(() => {
      settle([]);
    }, REPLY_TIMEOUT_MS);
    waiting.set(id, settle);
    send({ kind: 'take', id, takes });
    [takes, settles] = [[], []];
  };
  return {
    windows: {
      isUsed: true,
      take: (key, limit, units) =>
        new Promise((resolve) => {
          takes.push({ key, limit, units });
          // Requests that arrived together are read in one turn.
          if (settles.push(resolve) === 1) setImmediate(flush);
        }),
      refund: (key, units, slot) => {
        send({ kind: 'refund', key, units, slot });
      },
      close: () => undefined,
    },
    receive: ({ id, counts }) => {
      waiting.get(id)?.(counts);
    },
  };
}
