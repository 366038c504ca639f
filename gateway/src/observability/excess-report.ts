/** Reports operations above limits that are measured only: a Prometheus counter and a line of the log. */
import type { Log } from '@trestle/log';
import type { Registry } from 'prom-client';
import type { ExceededLimit } from '../program/program.ts';
import { createOperationCounter } from './operation-counter.ts';
import { toOperationLabel } from './operation-label.ts';

/** The operation that exceeds limits. */
export interface ExcessOperation {
  readonly name: string | undefined;
  readonly requestId: string;
}

/** Counts an operation once for each limit that it exceeds, and logs it in one line. Called before it is executed. */
export type ReportExcess = (exceeded: readonly ExceededLimit[], operation: ExcessOperation) => void;

/** Registers the counter and returns the function that reports one operation. */
export function createExcessReport(registry: Registry, log: Log): ReportExcess {
  const count = createOperationCounter(registry, {
    name: 'trestle_operations_over_limit_total',
    help: 'Operations above a limit that were executed, because LIMITS_MODE=measure, by the name of the limit.',
    label: 'limit',
  });
  return (exceeded, { name, requestId }) => {
    for (const { limit } of exceeded) count(name, limit);
    const operation = toOperationLabel(name) ?? 'anonymous';
    log.warn('an operation above its limits is executed', { requestId, operation, limits: exceeded.map(toPair).join(' ') });
  };
}

function toPair({ limit, value }: ExceededLimit): string {
  return `${limit}=${String(value)}`;
}
