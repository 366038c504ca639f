import { setTimeout } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { createBufferRelease } from './garbage-collection.ts';

const MIB = 1024 * 1024;
const outsideBytes = () => process.memoryUsage().arrayBuffers;

it('createBufferRelease frees buffers that are garbage after so many bytes, and not before', async () => {
  const release = createBufferRelease(8 * MIB);
  const before = outsideBytes();
  const receive = (bytes: number) => {
    release(Buffer.allocUnsafeSlow(bytes).length);
  };
  for (let n = 0; n < 7; n++) receive(MIB);
  expect(outsideBytes()).toBeGreaterThanOrEqual(before + 7 * MIB);
  receive(MIB);
  receive(0);
  // V8 frees buffers in a thread of its own.
  while (outsideBytes() > before + 2 * MIB) await setTimeout(5);
});
