/** Prometheus metrics of the supergraphs that are served. */
import { Counter, Gauge, type Registry } from 'prom-client';
import type { JudgedRequest } from '../launches/canary-judge.ts';
import type { ServedSupergraph } from '../launches/delivered.ts';

/** Registers the metric. `read` returns what is served now. */
export function registerSupergraphs(registry: Registry, read: () => readonly ServedSupergraph[]): void {
  new Gauge({
    name: 'trestle_supergraph_info',
    help: '1 for each supergraph that is served: its hash, and its launch and release in the registry. The role is current or canary.',
    labelNames: ['role', 'hash', 'launch', 'release'],
    registers: [registry],
    aggregator: 'max',
    collect() {
      this.reset();
      for (const { role, hash, launch } of read())
        this.set({ role, hash, launch: launch?.launch ?? '', release: launch ? String(launch.release) : '' }, 1);
    },
  });
}

export interface CanaryMetrics {
  count(request: JudgedRequest): void;
  countReturn(): void;
}

/** Registers the metrics of canaries. */
export function createCanaryMetrics(registry: Registry): CanaryMetrics {
  const requests = new Counter({
    name: 'trestle_canary_requests_total',
    help: 'Requests during canaries that are compared, by role (current or canary) and result (ok or error).',
    labelNames: ['role', 'result'],
    registers: [registry],
  });
  const returns = new Counter({
    name: 'trestle_canary_returns_total',
    help: 'Canaries that this process has ended, because they were worse than the launch beside them or could not be loaded.',
    registers: [registry],
  });
  return {
    count({ isCanary, isError }) {
      requests.inc({ role: isCanary ? 'canary' : 'current', result: isError ? 'error' : 'ok' });
    },
    countReturn() {
      returns.inc();
    },
  };
}
