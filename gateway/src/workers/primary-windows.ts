/**
 * The windows of rate limits that the primary counts for all workers. What one turn of the event loop takes is asked for in one message, and a key with
 * many units has some of them in advance (`leases.ts`).
 */
import type { SharedWindows } from '@trestle/limits/rate-limiter';
import type { Count } from '@trestle/limits/sliding-windows';
import { Leases } from './leases.ts';
import type { FromPrimary, FromWorker, Take, Taken } from './messages.ts';

/** How long the primary may take to reply. Without a reply, this worker counts alone. */
const REPLY_TIMEOUT_MS = 1000;

type Settle = (taken: Taken | undefined) => void;

export interface PrimaryWindows {
  readonly windows: SharedWindows;
  readonly receive: (message: Extract<FromPrimary, { kind: 'taken' }>) => void;
}

export function createPrimaryWindows(send: (message: FromWorker) => void): PrimaryWindows {
  /** What is not sent yet. */
  let takes: Take[] = [];
  let settles: Settle[] = [];
  const waiting = new Map<number, (counts: readonly Taken[]) => void>();
  let last = 0;
  const refund = (key: string, units: number, slot: number) => {
    send({ kind: 'refund', key, units, slot });
  };
  const request = (take: Take, settle: Settle) => {
    takes.push(take);
    // Requests that arrived together are read in one turn.
    if (settles.push(settle) === 1) setImmediate(flush);
  };
  const renew = (key: string, limit: number) => {
    const advance = leases.beginAsking(key);
    if (advance === 0) return;
    request({ key, limit, units: 0, advance }, (taken) => {
      leases.endAsking(key, taken);
    });
  };
  const leases = new Leases({ refund, renew });
  const flush = () => {
    const id = ++last;
    const asked = settles;
    const settle = (counts: readonly Taken[]) => {
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
  const ask = (key: string, limit: number, units: number) =>
    new Promise<Count | undefined>((resolve) => {
      const advance = leases.beginAsking(key);
      request({ key, limit, units, advance }, (taken) => {
        if (advance > 0) leases.endAsking(key, taken);
        resolve(taken && advance === 0 ? leases.correct(key, taken) : taken);
      });
    });
  return {
    windows: {
      isUsed: true,
      take: (key, limit, units) => leases.take(key, limit, units) ?? ask(key, limit, units),
      refund,
      close: () => undefined,
    },
    receive: ({ id, counts }) => {
      waiting.get(id)?.(counts);
    },
  };
}
