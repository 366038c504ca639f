/** Prometheus metric of the supergraphs that are served. */
import { Gauge, type Registry } from 'prom-client';
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
