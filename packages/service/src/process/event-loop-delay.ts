/** Measures whether the event loop of the process is late: it has more work than time. */
import { monitorEventLoopDelay } from 'node:perf_hooks';

/** Whether the process is overloaded. */
export interface EventLoopWatch {
  /** Whether the mean delay of the last second was above the limit; then until it is below half of it. */
  readonly isLate: boolean;
  /** Stops measuring. */
  close(): void;
}

const WINDOW_MS = 1000;
const RESOLUTION_MS = 10;

/** Watches the mean delay of the event loop, which is measured anew each second, so that it falls after a peak. `maxDelayMs` is the limit. */
export function watchEventLoop(maxDelayMs: number): EventLoopWatch {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  let isLate = false;
  let isStarted = false;
  const timer = setInterval(() => {
    // The histogram includes the sampling interval itself.
    const mean = delays.count > 0 ? delays.mean / 1e6 - RESOLUTION_MS : 0;
    // The first second is the start of the process, which is busy without any request.
    isLate = isStarted && mean > (isLate ? maxDelayMs / 2 : maxDelayMs);
    isStarted = true;
    delays.reset();
  }, WINDOW_MS);
  timer.unref();
  return {
    get isLate() {
      return isLate;
    },
    close() {
      clearInterval(timer);
      delays.disable();
    },
  };
}
