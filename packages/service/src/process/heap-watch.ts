/** Returns memory to the system after a peak. V8 collects a grown heap only when it grows again, which may be never in an idle process. */
import { performance } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import { findCollector, shrinkHeap } from './garbage-collection.ts';

/** When the garbage is collected. */
export interface HeapWatchOptions {
  /** The interval of the checks. */
  readonly checkMs?: number;
  /**
   * The heap counts as grown when it has this many bytes more than its minimum, or than after its last collection by this watch. While the thread is
   * idle, collections of the busy thread do not count: what it used then may be garbage since.
   */
  readonly grownBytes?: number;
  /** How long the heap may stay grown while its thread is idle, and while it is busy. */
  readonly idleMs?: number;
  readonly busyMs?: number;
  /** The least time before the heap is shrunk, after the start and after another time. */
  readonly shrinkIntervalMs?: number;
}

const CHECK_MS = 1000;
const GROWN_BYTES = 32 * 1024 * 1024;
const IDLE_MS = 2000;
/** Collections are rare in a busy thread, because each takes some 50 ms. */
const BUSY_MS = 7000;
/** From this share of time on a thread counts as busy. */
const BUSY = 0.5;
/** Up to this share of time the heap is shrunk. */
const QUIET = 0.25;
/**
 * Each shrink takes some 100 ms, in which the process answers nothing, and afterwards V8 has to let the heap grow again. Twice a minute, in each of the
 * processes that a request passes, it would be in the 99th percentile of clients of a system with little load.
 */
const SHRINK_INTERVAL_MS = 10 * 60_000;

/** Collects the garbage of this thread when its heap has stayed grown. Returns a function that ends the watch. */
export function watchHeap({
  checkMs = CHECK_MS,
  grownBytes = GROWN_BYTES,
  idleMs = IDLE_MS,
  busyMs = BUSY_MS,
  shrinkIntervalMs = SHRINK_INTERVAL_MS,
}: HeapWatchOptions = {}): () => void {
  const collect = findCollector();
  // A collection leaves the young generation as large as it is, so what is left afterwards may still have to be shrunk.
  const shrunk = createLevel(grownBytes);
  const collected = createLevel(grownBytes);
  const collectedIdle = createLevel(grownBytes);
  let shrunkAt = performance.now();
  let last = performance.eventLoopUtilization();
  const check = () => {
    const now = performance.now();
    const since = last;
    last = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(last, since);
    const isIdle = utilization < BUSY;
    const mayShrink = utilization < QUIET && now - shrunkAt >= shrinkIntervalMs;
    const [shrunkForMs, busyForMs, idleForMs] = [shrunk.measure(now), collected.measure(now), collectedIdle.measure(now)];
    if (mayShrink && shrunkForMs >= idleMs) {
      shrinkHeap();
      shrunkAt = performance.now();
      for (const level of [shrunk, collected, collectedIdle]) level.reset();
    } else if (isIdle ? idleForMs >= idleMs : busyForMs >= busyMs) {
      collect();
      collected.reset();
      if (isIdle) collectedIdle.reset();
    }
  };
  const timer = setInterval(check, checkMs).unref();
  return () => {
    clearInterval(timer);
  };
}

interface Level {
  /** Returns for how many milliseconds the heap has been grown; -1 when it is not. */
  measure(now: number): number;
  /** Makes the present size the one from which growth counts. */
  reset(): void;
}

function createLevel(grownBytes: number): Level {
  let base = readBytes();
  let grownSince: number | undefined;
  return {
    measure(now) {
      const bytes = readBytes();
      base = Math.min(base, bytes);
      if (bytes - base < grownBytes) {
        grownSince = undefined;
        return -1;
      }
      grownSince ??= now;
      return now - grownSince;
    },
    reset() {
      base = readBytes();
      grownSince = undefined;
    },
  };
}

/** When the garbage of tasks is collected. */
export interface GrowthLimitOptions {
  readonly grownBytes: number;
  /** The largest share of time for collections, from 0 to 1. */
  readonly maxShare: number;
}

/**
 * Returns a function that collects the garbage of this thread when the heap has grown by `grownBytes` since the last collection. It is for threads
 * whose every task leaves much garbage: V8 lets the heap of such a thread grow to several times what is in use.
 */
export function createGrowthLimit({ grownBytes, maxShare }: GrowthLimitOptions): () => void {
  const collect = findCollector();
  let base = readBytes();
  let notBefore = 0;
  return () => {
    const bytes = readBytes();
    base = Math.min(base, bytes);
    const startedAt = performance.now();
    if (bytes - base < grownBytes || startedAt < notBefore) return;
    collect();
    const endedAt = performance.now();
    notBefore = endedAt + (endedAt - startedAt) * (1 / maxShare - 1);
    base = readBytes();
  };
}

function readBytes(): number {
  return getHeapStatistics().total_heap_size;
}
