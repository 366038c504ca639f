import { setTimeout } from 'node:timers/promises';
import { getHeapStatistics } from 'node:v8';
import { afterEach, expect, it } from '@jest/globals';
import { watchHeap } from './heap-watch.ts';

const MIB = 1024 * 1024;
const usedBytes = () => getHeapStatistics().used_heap_size;
let stop: (() => void) | undefined;
afterEach(() => stop?.());

/** Objects that outlive the young generation, and are garbage afterwards. */
function grow(): number {
  const kept: object[] = [];
  for (let n = 0; n < 1_000_000; n++) kept.push({ n, text: [n] });
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
