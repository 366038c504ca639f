/** Prometheus metrics of the source of the supergraph. */
import { Counter, Gauge, type Registry } from 'prom-client';

/** What came of one reading: `failed` is the source, `refused` is a supergraph that cannot be served. */
export type ReadResult = 'new' | 'unchanged' | 'failed' | 'refused';

const RESULTS: readonly ReadResult[] = ['new', 'unchanged', 'failed', 'refused'];

export interface SourceMetrics {
  count(result: ReadResult): void;
  /** Reports whether the supergraph that is served is what the source had when it was read last. */
  setCurrent(isCurrent: boolean): void;
}

/** Registers the metrics. */
export function createSourceMetrics(registry: Registry): SourceMetrics {
  const reads = new Counter({
    name: 'trestle_supergraph_reads_total',
    help: 'Readings of the source of the supergraph, by result: new, unchanged, failed (the source) or refused (an invalid supergraph).',
    labelNames: ['result'],
    registers: [registry],
  });
  for (const result of RESULTS) reads.inc({ result }, 0);
  const current = new Gauge({
    name: 'trestle_supergraph_current',
    help: '1 while the supergraph that is served is what the source had when it was read last; 0 after a failure or a refusal.',
    registers: [registry],
    // With several workers: whether all serve the current one.
    aggregator: 'min',
  });
  return {
    count: (result) => {
      reads.inc({ result });
    },
    setCurrent: (isCurrent) => {
      current.set(isCurrent ? 1 : 0);
    },
  };
}
