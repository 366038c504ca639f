/** Bounds how many checks of passwords run at once. */
import { fail } from '@trestle/schema/errors';

/** More would wait longer than the gateway does: this many hashes take 3 s on two free cores, and 6 s on one. */
const MAX_WAITING = 120;
const RETRY_AFTER_SECONDS = 2;

/**
 * Returns a function that runs at most `max` tasks at once. The others wait in their order; when too many wait it rejects with
 * SERVICE_UNAVAILABLE.
 */
export function createConcurrencyLimit(max: number): <T>(task: () => Promise<T>) => Promise<T> {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (task) => {
    if (waiting.length >= MAX_WAITING)
      throw fail('SERVICE_UNAVAILABLE', 'Too many logins and new passwords are waiting. Retry after 2 seconds.', {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    if (running >= max) await new Promise<void>((resolve) => waiting.push(resolve));
    else running++;
    try {
      return await task();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  };
}
