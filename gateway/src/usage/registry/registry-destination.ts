/** Trestle's registry as the destination of reports (docs/registry.md, "Usage"): it takes counts by operation and client. */
import type { UsageDestination } from '../usage-destination.ts';
import { type RegistryTarget, createRegistrySend } from './send-report.ts';
import { UsageLog } from '../usage-log.ts';
import { RequestCounts } from './request-counts.ts';
import { writeReports } from './usage-reports.ts';

/** Returns the destination. */
export function toRegistry(target: RegistryTarget): UsageDestination {
  return {
    name: 'the registry',
    permission: 'the scope REPORT',
    createRecords: ({ maxBytes, onDrop }) => {
      const log = new UsageLog({ maxBytes, onDrop, createCounts: () => new RequestCounts() });
      return {
        get bytes() {
          return log.bytes;
        },
        begin: (request) => log.begin(request),
        take: (options) => writeReports(log.take(), options),
      };
    },
    send: createRegistrySend(target),
  };
}
