/** Prometheus metrics of executions: how many were executed on bytes, and why others were not (ADR 23). */
import type { Registry } from 'prom-client';
import { createOperationCounter } from './operation-counter.ts';

/** Registers the metric and returns the function that counts one execution. `path` must be one of a fixed set. */
export function createExecutionCounter(registry: Registry): (operation: string | undefined, path: string) => void {
  return createOperationCounter(registry, {
    name: 'trestle_executions_total',
    help: 'Executed operations, by path: on bytes, or why they were executed with objects.',
    label: 'path',
  });
}
