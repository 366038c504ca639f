import { afterAll, describe, expect, it } from '@jest/globals';
import { silenceVendorTelemetry } from '#gateway/config';
import { fuzzDeferred } from './fuzz-deferred.ts';

silenceVendorTelemetry();

/** 4 × 25 operations. `npm run fuzz` compares 20,000. */
const SEEDS = [1, 21, 41, 61];
let inParts = 0;
let withFailures = 0;

describe('the parts of a result', () => {
  it.each(SEEDS)('merge to the result of the same operation without @defer, for 25 random operations (seed %i)', async (seed) => {
    const report = await fuzzDeferred({ seed, operations: 25, perWorld: 25, maxFailures: 2 });
    expect(report.failures).toEqual([]);
    inParts += report.inParts;
    withFailures += report.withFailures;
  });
});

afterAll(() => {
  expect([inParts > 40, withFailures > 0]).toEqual([true, true]);
});
