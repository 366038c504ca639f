/** Prometheus metrics of reports of usage. */
import { Counter, Gauge, type Registry } from 'prom-client';

/** What became of requests: reported, refused by the destination, or dropped because too much waited or was recorded. */
export type UsageOutcome = 'reported' | 'refused' | 'dropped';

export interface UsageMetrics {
  count(outcome: UsageOutcome, requests: number): void;
  countFailure(): void;
}

/** Registers the metrics. `readBytes` returns how much memory waits to be reported. */
export function createUsageMetrics(registry: Registry, readBytes: () => number): UsageMetrics {
  const requests = new Counter({
    name: 'trestle_usage_requests_total',
    help: 'Requests whose usage was reported, refused by their destination, or dropped beyond the bound of memory.',
    labelNames: ['outcome'],
    registers: [registry],
  });
  for (const outcome of ['reported', 'refused', 'dropped'] as const) requests.inc({ outcome }, 0);
  const failures = new Counter({
    name: 'trestle_usage_failures_total',
    help: 'Attempts to report usage that failed, and were or will be repeated.',
    registers: [registry],
  });
  new Gauge({
    name: 'trestle_usage_pending_bytes',
    help: 'Memory of usage that is not reported yet.',
    registers: [registry],
    collect() {
      this.set(readBytes());
    },
  });
  return {
    count: (outcome, count) => {
      requests.inc({ outcome }, count);
    },
    countFailure: () => {
      failures.inc();
    },
  };
}
