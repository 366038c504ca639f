import { describe, expect, it } from '@jest/globals';
import { judgeMemory } from './memory.ts';

const samples = (at: (i: number) => number) => Array.from({ length: 400 }, (_, i) => at(i));

describe('the memory of a process', () => {
  it('is flat when it grows while it warms up only', () => {
    expect(judgeMemory(samples((i) => Math.min(i, 90) * 1000)).isFlat).toBe(true);
  });

  it('is flat when it goes up and down', () => {
    expect(judgeMemory(samples((i) => 100 + 20 * Math.sin(i))).isFlat).toBe(true);
  });

  it('is not flat when it grows by a quarter between the second and the last part of the time', () => {
    const { isFlat, medians, peaks } = judgeMemory(samples((i) => 100 + i / 5));
    expect(isFlat).toBe(false);
    expect(medians).toEqual([110, 130, 150, 170]);
    expect(peaks.at(-1)).toBeCloseTo(179.8);
  });
});
