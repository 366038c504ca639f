import { describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { createCostMetrics } from './cost-metrics.ts';

const linesOf = async (registry: Registry, name: string) =>
  (await registry.metrics()).split('\n').filter((line) => line.startsWith(name) && !line.includes('_bucket'));

describe('createCostMetrics', () => {
  it('counts estimated and actual costs apart, in buckets', async () => {
    const registry = new Registry();
    const metrics = createCostMetrics(registry);
    for (const cost of [1, 7, 2_000_000]) metrics.observeEstimated(cost);
    metrics.observeActual(3);
    const text = await registry.metrics();
    expect(text).toContain('trestle_operation_cost_estimated_bucket{le="1"} 1');
    expect(text).toContain('trestle_operation_cost_estimated_bucket{le="10"} 2');
    expect(text).toContain('trestle_operation_cost_estimated_bucket{le="1000000"} 2');
    expect(text).toContain('trestle_operation_cost_estimated_bucket{le="+Inf"} 3');
    expect(text).toContain('trestle_operation_cost_actual_bucket{le="5"} 1');
  });

  it('keeps the sum useful after costs that are negative, huge or not a number', async () => {
    const registry = new Registry();
    const { observeEstimated } = createCostMetrics(registry);
    for (const cost of [5, -3, NaN, 1e300, Infinity]) observeEstimated(cost);
    expect(await linesOf(registry, 'trestle_operation_cost_estimated')).toEqual([
      'trestle_operation_cost_estimated_sum 2000000005',
      'trestle_operation_cost_estimated_count 5',
    ]);
  });

  it('counts operations above the limit by name and outcome, with at most 100 names', async () => {
    const registry = new Registry();
    const { countExcess } = createCostMetrics(registry);
    countExcess(undefined, 'refused');
    countExcess(undefined, 'refused');
    for (let i = 0; i < 500; i++) countExcess(`Op${String(i)}`, 'executed');
    const lines = await linesOf(registry, 'trestle_operations_over_cost_limit_total');
    expect(lines).toHaveLength(101);
    expect(lines[0]).toBe('trestle_operations_over_cost_limit_total{operation="anonymous",outcome="refused"} 2');
    expect(lines.at(-1)).toBe('trestle_operations_over_cost_limit_total{operation="other",outcome="executed"} 401');
  });
});
