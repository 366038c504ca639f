import { expect, it } from '@jest/globals';
import { silenceVendorTelemetry } from '#gateway/config';
import { fuzz, writeFailure } from './fuzz.ts';

it('both engines answer 2,000 random operations on random supergraphs alike, but for the known faults of the stock one', async () => {
  silenceVendorTelemetry();
  const { failures, operations, known } = await fuzz({ seed: 1, operations: 2000, perSupergraph: 40, maxFailures: 3 });
  expect(failures.map(writeFailure)).toEqual([]);
  expect(operations).toBe(2000);
  // The comparison works: known faults of the stock engine are found.
  expect(known.size).toBeGreaterThan(0);
}, 300_000);
