import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { findCollector } from './garbage-collection.ts';
import { createGrowthLimit, watchHeap } from './heap-watch.ts';

const MIB = 1024 * 1024;
const usedBytes = () => getHeapStatistics().used_heap_size;
const youngBytes = () => getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')?.space_size ?? 0;
let stop: (() => void) | undefined;
// The garbage of test files before is no growth: once it is gone, the heap is smaller than when the watch began.
beforeEach(() => {
  findCollector()();
});
afterEach(() => {
  stop?.();
  stop = undefined;
});

/** Makes garbage that outlives the young generation: a million objects, and more while they fit into room that the tests before have left. */
function grow(): number {
  const totalBytes = () => getHeapStatistics().total_heap_size;
  const full = totalBytes() + 32 * MIB;
  const kept: object[] = [];
  while (kept.length < 1_000_000 || totalBytes() < full) for (let n = 0; n < 10_000; n++) kept.push({ n, text: [n] });
  return kept.length;
}

it('watchHeap collects the garbage of a heap that has stayed grown', async () => {
  stop = watchHeap({ checkMs: 20, grownBytes: 16 * MIB, idleMs: 100, busyMs: 100 });
  const before = usedBytes();
  const kept = [grow()];
  // Nothing else that is done here makes V8 collect anything.
  while (usedBytes() > before + 24 * MIB) await setTimeout(20);
  expect(kept).toHaveLength(1);
});

/**
 * The body of a thread that is busy until the watch has collected once, with a million objects in use, and then idle until they are collected too. It
 * has a heap of its own: V8 may return so much garbage of other test files while these objects are created that the heap of this thread does not grow.
 */
const BUSY_THEN_IDLE = `
const { parentPort } = require('node:worker_threads');
const { setImmediate, setTimeout } = require('node:timers/promises');
const { getHeapStatistics } = require('node:v8');
const MIB = 1024 * 1024;
const usedBytes = () => getHeapStatistics().used_heap_size;
import('@trestle/service/process/heap-watch').then(async ({ watchHeap }) => {
  // On a busy machine a check can find the thread idle while it works. The objects must not be collected as those of an idle thread before they are garbage.
  watchHeap({ checkMs: 20, grownBytes: 16 * MIB, idleMs: 1000, busyMs: 100 });
  const before = usedBytes();
  const used = Array.from({ length: 1_000_000 }, (_, n) => ({ n, text: [n] }));
  const garbage = new WeakRef({});
  // A full collection alone clears it, and nothing else that is done here makes V8 collect anything.
  while (garbage.deref()) {
    for (const since = performance.now(); performance.now() < since + 15;);
    await setImmediate();
  }
  const usedWhileBusy = usedBytes() - before;
  used.length = 0;
  while (usedBytes() > before + 16 * MIB) await setTimeout(20);
  parentPort.postMessage({ usedWhileBusy });
});
`;

it('watchHeap collects in an idle thread what was in use at the last collection while it was busy', async () => {
  const thread = new Worker(BUSY_THEN_IDLE, { eval: true });
  try {
    const [{ usedWhileBusy }] = (await once(thread, 'message')) as [{ usedWhileBusy: number }];
    expect(usedWhileBusy).toBeGreaterThan(24 * MIB);
  } finally {
    await thread.terminate();
  }
});

/** In Node.js 26 the young generation has 3 MB after the same work, so there is nothing to shrink. */
const hasLargeYoung = Number(process.versions.node.split('.', 1)[0]) < 26;

(hasLargeYoung ? it : it.skip)(
  'watchHeap shrinks the young generation of an idle thread',
  async () => {
    stop = watchHeap({ checkMs: 20, grownBytes: 16 * MIB, idleMs: 100, busyMs: 60_000, shrinkIntervalMs: 0 });
    const before = usedBytes();
    grow();
    expect(youngBytes()).toBeGreaterThanOrEqual(16 * MIB);
    while (youngBytes() > 8 * MIB) {
      await setTimeout(20);
      // A check that finds the thread less than quiet collects the garbage only.
      if (youngBytes() > 8 * MIB && usedBytes() < before + 16 * MIB) grow();
    }
    // After some 30 s V8 shrinks it without this.
  },
  25_000,
);

it('createGrowthLimit collects the garbage of tasks once the heap has grown by it, in its share of the time', () => {
  const limit = createGrowthLimit({ grownBytes: 16 * MIB, maxShare: 1e-6 });
  const before = usedBytes();
  limit();
  const kept = [grow()];
  const grown = usedBytes();
  limit();
  expect(usedBytes()).toBeLessThan(grown - 16 * MIB);
  expect(usedBytes()).toBeLessThan(before + 24 * MIB);
  kept.push(grow());
  const again = usedBytes();
  limit();
  expect(usedBytes()).toBeGreaterThanOrEqual(again);
  expect(kept).toHaveLength(2);
});
