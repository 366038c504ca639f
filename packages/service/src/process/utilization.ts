/** How busy the event loop of this thread is. */
import { performance } from 'node:perf_hooks';

/** Returns a function that returns the share of time, 0 to 1, in which the event loop was busy since its last call. */
export function watchUtilization(): () => number {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
}
