/** A Prometheus counter of operations by their name and one more label. */
import { Counter, type Registry } from 'prom-client';
import { toOperationLabel } from './operation-label.ts';

/** Clients choose operation names: at most this many have their own label, the others are `other`. */
const MAX_NAMES = 100;

/** The name of the counter, and the label beside `operation`. */
export interface OperationCounterOptions {
  readonly name: string;
  readonly help: string;
  readonly label: string;
}

/** Registers the counter and returns the function that counts one operation. `value` must be one of a fixed set. */
export function createOperationCounter(
  registry: Registry,
  { name, help, label }: OperationCounterOptions,
): (operation: string | undefined, value: string) => void {
  const counts = new Map<string, Map<string, number>>();
  new Counter<string>({
    name,
    help,
    labelNames: ['operation', label],
    registers: [registry],
    collect() {
      this.reset();
      for (const [operation, values] of counts) for (const [value, count] of values) this.inc({ operation, [label]: value }, count);
    },
  });
  return (operation, value) => {
    const own = toOperationLabel(operation) ?? 'anonymous';
    const key = counts.has(own) || counts.size < MAX_NAMES ? own : 'other';
    let values = counts.get(key);
    if (!values) counts.set(key, (values = new Map<string, number>()));
    values.set(value, (values.get(value) ?? 0) + 1);
  };
}
