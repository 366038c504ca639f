import { afterAll, describe, expect, it } from '@jest/globals';
import { silenceVendorTelemetry } from '#gateway/config';
import { fuzzDeferred } from './fuzz-deferred.ts';

silenceVendorTelemetry();

/** 2 × 40 operations. `npm run fuzz` compares 1,000. */
const SEEDS = [11, 5000];
let inParts = 0;
let withFailures = 0;

describe('the parts of a result', () => {
  it.each(SEEDS)('merge to the result of the same operation without @defer, for 40 random operations (seed %i)', async (seed) => {
    const report = await fuzzDeferred({ seed, operations: 40, perWorld: 40, maxFailures: 2 });
    expect(report.failures).toEqual([]);
    inParts += report.inParts;
    withFailures += report.withFailures;
  });
});

// Most of them are delivered in parts, and some have a fragment without data.
afterAll(() => {
  expect([inParts > 30, withFailures > 0]).toEqual([true, true]);
});
