/** Prometheus metrics of the cost of operations: the estimate, what results cost, and operations above the limit. */
import { createHistogram } from '@trestle/service/probes/histogram';
import type { Registry } from 'prom-client';
import { createOperationCounter } from './operation-counter.ts';

/** Upper bounds of the buckets. */
const BUCKETS = [1, 5, 10, 50, 100, 500, 1000, 5000, 10_000, 50_000, 100_000, 500_000, 1_000_000, 10_000_000] as const;
/** The highest value of MAX_COST. Clients choose the sizes of lists: a higher cost would make the sum useless. */
const MAX_OBSERVED = 1_000_000_000;

export interface CostMetrics {
  /** Called once for each operation that is planned and valid, before it is refused or executed. */
  readonly observeEstimated: (cost: number) => void;
  /** Called once for each result whose cost was counted. */
  readonly observeActual: (cost: number) => void;
  /** Called for each operation whose estimated cost exceeds the limit. */
  readonly countExcess: (operation: string | undefined, outcome: 'refused' | 'executed') => void;
}

/** Registers the metrics and returns the functions that feed them. */
export function createCostMetrics(registry: Registry): CostMetrics {
  const open = (name: string, help: string) => createHistogram({ registry, name, help, labelNames: [], buckets: BUCKETS })({});
  const estimated = open('trestle_operation_cost_estimated', 'Estimated cost of operations, refused ones included.');
  const actual = open('trestle_operation_cost_actual', 'Cost of results, where it is counted: COST_MODE=measure, or Trestle-Cost.');
  return {
    observeEstimated(cost) {
      estimated.observe(limitObserved(cost));
    },
    observeActual(cost) {
      actual.observe(limitObserved(cost));
    },
    countExcess: createOperationCounter(registry, {
      name: 'trestle_operations_over_cost_limit_total',
      help: 'Operations whose estimated cost exceeds the limit, by outcome: refused or executed.',
      label: 'outcome',
    }),
  };
}

/** Weights may be negative, but the sum of a histogram must not decrease. */
function limitObserved(cost: number): number {
  return cost > 0 ? Math.min(cost, MAX_OBSERVED) : 0;
}
