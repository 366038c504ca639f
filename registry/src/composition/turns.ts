/** Runs work one piece after the other, with a bounded queue. */
import { fail } from '@trestle/schema/errors';

/** Waits for the pieces before, and runs one. Rejects with what it rejects with, and with SERVICE_UNAVAILABLE when too many wait. */
export type TakeTurn = <T>(work: () => Promise<T>) => Promise<T>;

/** Creates a queue. `maxWaiting`: how many pieces may wait or run. */
export function createTurns(maxWaiting: number): TakeTurn {
  let waiting = 0;
  let last: Promise<unknown> = Promise.resolve();
  return async (work) => {
    if (waiting >= maxWaiting)
      throw fail('SERVICE_UNAVAILABLE', 'Too many changes are waiting. Retry after 5 seconds.', { retryAfterSeconds: 5 });
    waiting++;
    const running = last.then(work);
    last = running.catch(() => undefined);
    try {
      return await running;
    } finally {
      waiting--;
    }
  };
}
