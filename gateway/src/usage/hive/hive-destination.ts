/** GraphQL Hive as the destination of reports: it takes each request, with the operation and the schema coordinates that this uses. */
import { exchange } from '../../sources/exchange.ts';
import type { SendReport, UsageDestination } from '../usage-destination.ts';
import { writeHiveReports } from './hive-reports.ts';
import { RequestLog } from './request-log.ts';

/** Where and what is reported. */
export interface HiveTarget {
  /** The address of the usage endpoint, without a target. */
  readonly endpoint: string;
  /** `organization/project/target`, or the id of the target. Undefined for a token that belongs to one target. */
  readonly target: string | undefined;
  readonly token: string;
  /** The share of requests that is reported, 0 to 1. */
  readonly sampleRate: number;
}

/** What is wrong with the report itself, so that sending it again is of no use. */
const REFUSALS: readonly number[] = [400, 413, 415, 422];
const LIMITS = { timeoutMs: 10_000, maxBytes: 1024 * 1024 };

/** Returns the destination. */
export function toHive(target: HiveTarget): UsageDestination {
  return {
    name: 'Hive',
    permission: 'the permission to report usage',
    createRecords: (options) => {
      const log = new RequestLog({ ...options, sampleRate: target.sampleRate });
      return {
        get bytes() {
          return log.bytes;
        },
        begin: (request) => log.begin(request),
        take: ({ createId }) => writeHiveReports(log.take(), createId),
      };
    },
    send: createSend(target),
  };
}

function createSend({ endpoint, target, token }: HiveTarget): SendReport {
  const url = target === undefined ? endpoint : `${endpoint}${endpoint.endsWith('/') ? '' : '/'}${target}`;
  const headers = {
    ...{ authorization: `Bearer ${token}`, 'content-type': 'application/json', accept: 'application/json' },
    ...{ 'x-usage-api-version': '2', 'graphql-client-name': 'trestle-gateway' },
  };
  return async ({ id, body }, signal) => {
    const sent = { url, method: 'POST', headers: { ...headers, 'x-request-id': id }, body, maxRedirects: 0 } as const;
    const { status } = await exchange(sent, { ...LIMITS, statuses: [200, ...REFUSALS], signal });
    return status === 200 ? { kind: 'taken', missing: [] } : { kind: 'refused' };
  };
}
