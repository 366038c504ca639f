import { describe, expect, it } from '@jest/globals';
import { fuzzExecutors } from './fuzz-executors.ts';

describe('both executors', () => {
  it.each([1, 101, 201])('answer 200 random operations alike, with spoiled responses among them (seed %i)', async (seed) => {
    const { failures, operations, paths } = await fuzzExecutors({ seed, operations: 200, perSupergraph: 100, maxFailures: 3 });
    expect(failures).toEqual([]);
    expect(operations).toBe(200);
    // The comparison is of two executors.
    expect(paths.get('bytes')).toBeGreaterThan(20);
  });
});
