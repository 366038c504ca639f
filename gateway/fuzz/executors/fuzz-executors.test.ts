import { describe, expect, it } from '@jest/globals';
import { fuzzExecutors } from './fuzz-executors.ts';

describe('both executors', () => {
  // `npm run fuzz` compares 100,000.
  it.each([1, 101, 201])('answer 100 random operations alike, with spoiled responses among them (seed %i)', async (seed) => {
    const { failures, operations, paths } = await fuzzExecutors({ seed, operations: 100, perSupergraph: 50, maxFailures: 3 });
    expect(failures).toEqual([]);
    expect(operations).toBe(100);
    // The comparison is of two executors.
    expect(paths.get('bytes')).toBeGreaterThan(20);
  });
});
