/** Turns requests away while there are too many to serve them well (spec §7.3, 503). */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { fail } from '@trestle/schema/errors';

export interface LoadLimits {
  /** Requests in hand at once. */
  readonly maxInFlight: number;
  /** How late the event loop may be, on average over the last second. */
  readonly maxEventLoopDelayMs: number;
}

export interface LoadGuard {
  /** Takes a request in; what it gives is called when the request is done. Throws SERVICE_UNAVAILABLE. */
  enter(): () => void;
  close(): void;
}

const WINDOW_MS = 1000;
const RESOLUTION_MS = 10;
const RETRY_AFTER_SECONDS = 2;

/** A second of lateness is looked at as a whole and then forgotten, so that the guard opens again by itself. */
export function createLoadGuard({ maxInFlight, maxEventLoopDelayMs }: LoadLimits): LoadGuard {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  let inFlight = 0;
  let isLate = false;
  const timer = setInterval(() => {
    // The histogram counts the timer's own interval as well.
    isLate = delays.count > 0 && delays.mean / 1e6 - RESOLUTION_MS > maxEventLoopDelayMs;
    delays.reset();
  }, WINDOW_MS);
  timer.unref();
  return {
    enter() {
      if (isLate || inFlight >= maxInFlight)
        throw fail('SERVICE_UNAVAILABLE', 'There is too much to do just now', { retryAfterSeconds: RETRY_AFTER_SECONDS });
      inFlight++;
      return () => {
        inFlight--;
      };
    },
    close() {
      clearInterval(timer);
      delays.disable();
    },
  };
}
