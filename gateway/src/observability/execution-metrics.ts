/** Prometheus metrics of executions: how many were executed on bytes, and why others were not (ADR 23). */
import { Counter, type Registry } from 'prom-client';
import { toOperationLabel } from './operation-label.ts';

/** Clients choose operation names: at most this many have their own label, the others are `other`. */
const MAX_NAMES = 100;

/** Registers the metric and returns the function that counts one execution. `path` must be one of a fixed set. */
export function createExecutionCounter(registry: Registry): (operation: string | undefined, path: string) => void {
  const counts = new Map<string, Map<string, number>>();
  new Counter({
    name: 'trestle_executions_total',
    help: 'Executed operations, by path: on bytes, or why they were executed with objects.',
    labelNames: ['operation', 'path'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [operation, paths] of counts) for (const [path, count] of paths) this.inc({ operation, path }, count);
    },
  });
  return (operation, path) => {
    const label = toOperationLabel(operation) ?? 'anonymous';
    const name = counts.has(label) || counts.size < MAX_NAMES ? label : 'other';
    let paths = counts.get(name);
    if (!paths) counts.set(name, (paths = new Map<string, number>()));
    paths.set(path, (paths.get(path) ?? 0) + 1);
  };
}
