import { afterAll, describe, expect, it } from '@jest/globals';
import { silenceVendorTelemetry } from '#gateway/config';
import { fuzz, writeFailure } from './fuzz.ts';

/** 5 × 80 operations: 400, on two supergraphs for each seed. `npm run fuzz` compares 100,000. */
const SEEDS = Array.from({ length: 5 }, (_, n) => 1 + 20 * n);
const found = new Set<string>();

silenceVendorTelemetry();

describe('both engines', () => {
  it.each(SEEDS)('answer 80 random operations alike, except for known faults of the stock engine (seed %i)', async (seed) => {
    const { failures, operations, known } = await fuzz({ seed, operations: 80, perSupergraph: 40, maxFailures: 3 });
    expect(failures.map(writeFailure)).toEqual([]);
    expect(operations).toBe(80);
    for (const fault of known.keys()) found.add(fault);
  });
});

// The comparison works: the operations above include some for which the stock engine has a known fault.
afterAll(() => {
  expect(found.size).toBeGreaterThan(0);
});
