/** Apollo GraphOS as the destination of reports: it takes counts by operation and client, and the fields that each operation uses. */
import { hostname, platform, release } from 'node:os';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { readVersion } from '../../package-files.ts';
import { exchange } from '../../sources/exchange.ts';
import type { SendReport, UsageDestination } from '../usage-destination.ts';
import { UsageLog } from '../usage-log.ts';
import { writeGraphosReports } from './graphos-reports.ts';
import { RequestStats } from './request-stats.ts';

/** Where usage is reported, and of which graph. */
export interface GraphosTarget {
  /** The address of the endpoint for reports. */
  readonly endpoint: string;
  /** An API key of the graph. */
  readonly key: string;
  /** The graph and its variant, such as `my-graph@current`. */
  readonly graphRef: string;
}

const TAKEN: readonly number[] = [200, 201, 202, 204];
/** What is wrong with the report itself, so that sending it again is of no use. */
const REFUSALS: readonly number[] = [400, 413, 415, 422];
const LIMITS = { timeoutMs: 10_000, maxBytes: 1024 * 1024 };
const compress = promisify(gzip);

/** Returns the destination. */
export function toGraphos(target: GraphosTarget): UsageDestination {
  const header = {
    graphRef: target.graphRef,
    hostname: hostname(),
    agentVersion: `@trestle/gateway@${readVersion()}`,
    runtimeVersion: `node ${process.version}`,
    uname: `${platform()}, ${release()}, ${process.arch}`,
  };
  return {
    name: 'GraphOS',
    permission: 'to be an API key of the graph',
    createRecords: ({ maxBytes, onDrop }) => {
      const log = new UsageLog({ maxBytes, onDrop, createCounts: () => new RequestStats() });
      return {
        get bytes() {
          return log.bytes;
        },
        begin: (request) => log.begin(request),
        take: (options) => writeGraphosReports(log.take(), header, options),
      };
    },
    send: createSend(target),
  };
}

function createSend({ endpoint, key }: GraphosTarget): SendReport {
  const headers = {
    ...{ 'x-api-key': key, 'content-type': 'application/protobuf', 'content-encoding': 'gzip' },
    accept: 'application/json',
  };
  return async ({ body }, signal) => {
    const sent = { url: endpoint, method: 'POST', headers, body: await compress(body), maxRedirects: 0 } as const;
    const { status } = await exchange(sent, { ...LIMITS, statuses: [...TAKEN, ...REFUSALS], signal });
    return TAKEN.includes(status) ? { kind: 'taken', missing: [] } : { kind: 'refused' };
  };
}
