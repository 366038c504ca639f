/** Returns memory to the system after a peak. V8 collects a grown heap only when it grows again, which may be never in an idle process. */
import { performance } from 'node:perf_hooks';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** When the garbage is collected. */
export interface HeapWatchOptions {
  /** The interval of the checks. */
  readonly checkMs?: number;
  /** The heap counts as grown when it has this many bytes more than its minimum, or than after its last collection by this watch. */
  readonly grownBytes?: number;
  /** How long the heap may stay grown while its thread is idle, and while it is busy. */
  readonly idleMs?: number;
  readonly busyMs?: number;
}

const CHECK_MS = 1000;
const GROWN_BYTES = 32 * 1024 * 1024;
const IDLE_MS = 2000;
/** Collections are rare in a busy thread, because each takes some 50 ms. */
const BUSY_MS = 7000;
/** From this share of time on a thread counts as busy. */
const BUSY = 0.5;

/** Collects the garbage of this thread when its heap has stayed grown. Returns a function that ends the watch. */
export function watchHeap({
  checkMs = CHECK_MS,
  grownBytes = GROWN_BYTES,
  idleMs = IDLE_MS,
  busyMs = BUSY_MS,
}: HeapWatchOptions = {}): () => void {
  const collect = findCollector();
  const readBytes = () => getHeapStatistics().total_heap_size;
  let base = readBytes();
  let grownSince: number | undefined;
  let last = performance.eventLoopUtilization();
  const check = () => {
    const bytes = readBytes();
    const now = performance.now();
    const since = last;
    last = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(last, since);
    base = Math.min(base, bytes);
    if (bytes - base < grownBytes) {
      grownSince = undefined;
      return;
    }
    grownSince ??= now;
    if (now - grownSince < (utilization < BUSY ? idleMs : busyMs)) return;
    collect();
    base = readBytes();
    grownSince = undefined;
  };
  const timer = setInterval(check, checkMs).unref();
  return () => {
    clearInterval(timer);
  };
}

/** Returns V8's function `gc`, which contexts have that are created after the flag is set. Before Node.js 22, `NODE_OPTIONS` does not accept the flag. */
function findCollector(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
}
