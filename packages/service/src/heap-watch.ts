/** Gives back memory after a peak: V8 keeps a heap that has grown until it grows again, which may be never in a process that has little to do. */
import { performance } from 'node:perf_hooks';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

export interface HeapWatchOptions {
  readonly checkMs?: number;
  /** A heap counts as grown by this many bytes more than it had at least, or after it was collected. */
  readonly grownBytes?: number;
  /** How long a heap may stay grown while its thread has time left, and while it has none. */
  readonly idleMs?: number;
  readonly busyMs?: number;
}

const CHECK_MS = 1000;
const GROWN_BYTES = 32 * 1024 * 1024;
const IDLE_MS = 2000;
/** A collection takes some 50 ms of a busy thread: it is to be rare. */
const BUSY_MS = 7000;
/** From this share of time on a thread counts as busy. */
const BUSY = 0.5;

/** Collects the garbage of this thread when its heap has stayed grown. Returns what ends that. */
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

/** The function `gc` is there in contexts that are made after the flag is set; the flag cannot be given in `NODE_OPTIONS` before Node.js 22. */
function findCollector(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
}
