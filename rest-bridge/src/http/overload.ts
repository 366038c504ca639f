/** Turns requests away while there are too many to serve them well (spec §7.3, 503). */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { fail } from '@trestle/schema/errors';

export interface LoadLimits {
  /** Requests in flight at once. */
  readonly maxInFlight: number;
  /** How late the event loop may be, on average over the last second. */
  readonly maxEventLoopDelayMs: number;
}

/** What one request takes of the bridge's capacity. */
export interface LoadSlot {
  /** Counts the request as in flight, once its body is there. Throws SERVICE_UNAVAILABLE when there are too many. */
  take(): void;
  /** Ends that; called once a request, whether it was counted or not. */
  leave(): void;
}

export interface LoadGuard {
  /** Lets a request in without counting it yet: a body that arrives slowly uses no capacity. Throws SERVICE_UNAVAILABLE under overload. */
  admit(): LoadSlot;
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
  let isStarted = false;
  const timer = setInterval(() => {
    // The histogram counts the timer's own interval as well.
    isLate = isStarted && delays.count > 0 && delays.mean / 1e6 - RESOLUTION_MS > maxEventLoopDelayMs;
    // The first window is that of the process's start, which is busy and serves nobody.
    isStarted = true;
    delays.reset();
  }, WINDOW_MS);
  timer.unref();
  const refuseOverload = () => {
    if (isLate || inFlight >= maxInFlight)
      throw fail('SERVICE_UNAVAILABLE', 'The server is overloaded. Retry after the number of seconds in Retry-After.', {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
  };
  return {
    admit() {
      refuseOverload();
      let isCounted = false;
      return {
        take() {
          if (isCounted) return;
          refuseOverload();
          isCounted = true;
          inFlight++;
        },
        leave() {
          if (!isCounted) return;
          isCounted = false;
          inFlight--;
        },
      };
    },
    close() {
      clearInterval(timer);
      delays.disable();
    },
  };
}
