import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from '@jest/globals';
import { CollectedBytes } from './collected-bytes.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

it('returns the bytes of all chunks in their order', () => {
  const bytes = new CollectedBytes();
  expect(bytes.toBuffer()).toHaveLength(0);
  const text = Array.from({ length: 1000 }, (_, i) => String(i));
  for (const chunk of text) bytes.add(Buffer.from(chunk));
  expect(bytes.toBuffer().toString()).toBe(text.join(''));
});

it('keeps a body of single bytes in little more memory than its bytes', () => {
  const source = Buffer.alloc(500_000, 'x');
  const bytes = new CollectedBytes();
  collectGarbage();
  const before = process.memoryUsage();
  for (let i = 0; i < source.length; i++) bytes.add(source.subarray(i, i + 1));
  collectGarbage();
  const after = process.memoryUsage();
  expect(after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers).toBeLessThan(10 * source.length);
  expect(bytes.toBuffer().equals(source)).toBe(true);
});
