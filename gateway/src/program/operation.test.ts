import { getHeapStatistics } from 'node:v8';
import { expect, it } from '@jest/globals';
import { findCollector } from '@trestle/service/process/garbage-collection';
import { compileCost } from './operation.ts';

const MIB = 1024 * 1024;
const collect = findCollector();
const usedBytes = () => {
  collect();
  return getHeapStatistics().used_heap_size;
};

/** Compiles expressions of 18 KB and equal length, no two of which are equal: V8 hashes strings of more than 16 KB by their length. */
function compileMany(count: number, from: number): void {
  const sum = Array.from({ length: 1500 }, (_, i) => `input.a${1000 + i}`).join('+');
  for (let n = from; n < from + count; n++) compileCost(`(input) => ${10_000 + n}+${sum}`)({});
}

it('leaves no memory in use when compiled code is no longer referenced', () => {
  compileMany(10, 0);
  const before = usedBytes();
  compileMany(500, 10);
  expect(usedBytes()).toBeLessThan(before + 5 * MIB);
});
