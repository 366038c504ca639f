/** Reports operations whose denied fields are returned, because `authorization.deniedFields` is `unprotected`: a Prometheus counter and a line of the log. */
import type { Log } from '@trestle/log';
import type { Registry } from 'prom-client';
import type { DenialError } from '../access/denial.ts';
import { createOperationCounter } from './operation-counter.ts';
import { toOperationLabel } from './operation-label.ts';

/** The operation with fields that its caller may not read. */
export interface UnprotectedOperation {
  readonly name: string | undefined;
  readonly requestId: string;
}

/** Counts an operation once and logs it in one line. Does nothing when no field is denied. */
export type ReportUnprotected = (denied: readonly DenialError[], operation: UnprotectedOperation) => void;

/** Registers the counter and returns the function that reports one operation. */
export function createUnprotectedReport(registry: Registry, log: Log): ReportUnprotected {
  const count = createOperationCounter(registry, {
    name: 'trestle_operations_unprotected_total',
    help: 'Operations whose denied fields were returned, because DENIED_FIELDS=unprotected, by the code of their errors otherwise.',
    label: 'code',
  });
  return (denied, { name, requestId }) => {
    const [first] = denied;
    if (!first) return;
    const { code } = first.extensions;
    count(name, code);
    const coordinates = [...new Set(denied.map(({ extensions }) => extensions.coordinate))];
    log.warn('denied fields are returned, because authorization.deniedFields is unprotected', {
      ...{ requestId, operation: toOperationLabel(name) ?? 'anonymous', code },
      coordinates: coordinates.join(' '),
      count: coordinates.length,
    });
  };
}
