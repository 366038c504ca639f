/** Rejects requests while the process is overloaded (spec §7.3, 503). */
import { fail } from '@trestle/schema/errors';
import { watchEventLoop } from '@trestle/service/process/event-loop-delay';

/** The limits above which the process counts as overloaded. */
export interface LoadLimits {
  /** Maximum number of requests in flight. */
  readonly maxInFlight: number;
  /** Maximum mean delay of the event loop over the last second, in milliseconds. */
  readonly maxEventLoopDelayMs: number;
}

/** The slot of one request among those in flight. */
export interface LoadSlot {
  /** Counts the request as in flight. Called once its body is complete. Throws SERVICE_UNAVAILABLE when too many are in flight. */
  acquire(): void;
  /** Stops counting the request. Called once for each request, also when it was never counted. */
  release(): void;
}

/** Rejects requests under overload. */
export interface LoadGuard {
  /**
   * Returns the slot of a new request, which is not counted yet: a body that arrives slowly uses no capacity. Throws
   * SERVICE_UNAVAILABLE under overload.
   */
  admit(): LoadSlot;
  /** Stops measuring the event loop. */
  close(): void;
}

const RETRY_AFTER_SECONDS = 2;

/** Creates a guard. After a peak of the delay it admits requests again (see `watchEventLoop`). */
export function createLoadGuard({ maxInFlight, maxEventLoopDelayMs }: LoadLimits): LoadGuard {
  const loop = watchEventLoop(maxEventLoopDelayMs);
  let inFlight = 0;
  const refuseOverload = () => {
    if (loop.isLate || inFlight >= maxInFlight)
      throw fail('SERVICE_UNAVAILABLE', 'The server is overloaded. Retry after the number of seconds in Retry-After.', {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
  };
  return {
    admit() {
      refuseOverload();
      let isCounted = false;
      return {
        acquire() {
          if (isCounted) return;
          refuseOverload();
          isCounted = true;
          inFlight++;
        },
        release() {
          if (!isCounted) return;
          isCounted = false;
          inFlight--;
        },
      };
    },
    close() {
      loop.close();
    },
  };
}
