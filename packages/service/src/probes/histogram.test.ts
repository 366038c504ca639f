import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Histogram, Registry } from 'prom-client';
import { createHistogram } from './histogram.ts';

it("writes the same metrics text as prom-client's histogram", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ outcome: fc.constantFrom('data', 'errors "quoted"'), seconds: fc.double({ min: 0, max: 20, noNaN: true }) })),
      async (seen) => {
        const [ours, theirs] = [new Registry(), new Registry()];
        const open = createHistogram({ registry: ours, name: 'h', help: 'What it is.', labelNames: ['outcome'] });
        const reference = new Histogram({ registers: [theirs], name: 'h', help: 'What it is.', labelNames: ['outcome'] });
        for (const { outcome, seconds } of seen) {
          open({ outcome }).observe(seconds);
          reference.observe({ outcome }, seconds);
        }
        const lines = async (registry: Registry) =>
          (await registry.metrics())
            .split('\n')
            .map((line) => line.replace(/\{([^{}]*)\}/, (_, labels: string) => `{${labels.split(',').sort().join()}}`))
            .sort();
        expect(await lines(ours)).toEqual(await lines(theirs));
      },
    ),
    { numRuns: 50 },
  );
});
