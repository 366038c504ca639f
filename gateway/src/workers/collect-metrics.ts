/** Joins the metrics of all workers into one page: counts are added up. */
import type { Worker } from 'node:cluster';
import { AggregatorRegistry, Gauge, Registry } from 'prom-client';
import type { FromPrimary, FromWorker, MetricFacts } from './messages.ts';

/** How long a worker may take. One that takes longer is left out. */
const COLLECT_TIMEOUT_MS = 2000;

type Collected = FromWorker & { readonly kind: 'collected' };

export interface MetricsCollection {
  /** Returns the metrics of all workers as text. */
  readonly read: () => Promise<string>;
  /** Adds what a worker has sent. */
  readonly add: (worker: Worker, message: Collected) => void;
}

/** `list` returns the workers that run. */
export function collectMetrics(list: () => readonly Worker[], send: (worker: Worker, message: FromPrimary) => void): MetricsCollection {
  const waiting = new Map<string, (metrics: readonly MetricFacts[]) => void>();
  let last = 0;
  const ask = (worker: Worker, id: number) =>
    new Promise<readonly MetricFacts[]>((resolve) => {
      const key = `${String(worker.id)} ${String(id)}`;
      const settle = (metrics: readonly MetricFacts[]) => {
        clearTimeout(timer);
        waiting.delete(key);
        resolve(metrics);
      };
      const timer = setTimeout(() => {
        settle([]);
      }, COLLECT_TIMEOUT_MS);
      waiting.set(key, settle);
      send(worker, { kind: 'collect', id });
    });
  const own = new Registry();
  new Gauge({
    name: 'trestle_workers',
    help: 'Workers that serve, whose metrics these are.',
    registers: [own],
    collect() {
      this.set(answered);
    },
  });
  let answered = 0;
  let current: Promise<string> | undefined;
  const collect = async () => {
    const id = ++last;
    const all = await Promise.all(list().map((worker) => ask(worker, id)));
    answered = all.filter((metrics) => metrics.length > 0).length;
    return AggregatorRegistry.aggregate([...all, await own.getMetricsAsJSON()]).metrics();
  };
  return {
    // Requests at the same time get the same page.
    read: () =>
      (current ??= collect().finally(() => {
        current = undefined;
      })),
    add: (worker, { id, metrics }) => waiting.get(`${String(worker.id)} ${String(id)}`)?.(metrics),
  };
}
