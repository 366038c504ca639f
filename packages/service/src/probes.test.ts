import { expect, it } from '@jest/globals';
import { createProbes } from './probes.ts';

it('names counters, and nothing else, with the ending `_total`', async () => {
  const { metrics } = createProbes({ isReady: () => true });
  const all = (await metrics.getMetricsAsJSON()) as unknown as readonly { readonly name: string; readonly type: string }[];
  expect(all.length).toBeGreaterThan(10);
  expect(all.filter(({ name, type }) => name.endsWith('_total') !== (type === 'counter'))).toEqual([]);
  expect(all.map(({ name }) => name)).toContain('nodejs_active_handles');
});
