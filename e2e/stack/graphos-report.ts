/** Reads reports of usage to GraphOS, and runs the gateway of Apollo that sends them as ours does. */
import { gunzipSync } from 'node:zlib';
import { ApolloGateway } from '@apollo/gateway';
import { ApolloServer } from '@apollo/server';
import { ApolloServerPluginUsageReporting } from '@apollo/server/plugin/usageReporting';
import { startStandaloneServer } from '@apollo/server/standalone';
import { type IPathErrorStats, Report } from '@apollo/usage-reporting-protobuf';
import type { ReceivedReport } from './report-receiver.ts';

/** What a report says of the requests of one operation by one client. */
export interface ReportedRequests {
  readonly key: string;
  readonly client: string;
  readonly version: string;
  readonly requests: number;
  readonly withErrors: number;
  readonly withoutFields: number;
  readonly persisted: { readonly hits: number; readonly misses: number };
  readonly cacheHits: number;
  readonly errors: IPathErrorStats;
  /** The requests in the histogram of durations. */
  readonly timed: number;
  /** Those in the histogram of results from the cache. */
  readonly timedCached: number;
  readonly fields: Readonly<Record<string, { readonly names: readonly string[]; readonly isInterface: boolean }>>;
}

/** Returns a report. Throws for what is not one. */
export function decodeReport({ bytes }: ReceivedReport): Report {
  return Report.decode(gunzipSync(bytes));
}

/** Returns what reports say, in the order of operations and clients. */
export function readRequests(reports: readonly ReceivedReport[]): ReportedRequests[] {
  const rows = reports.map(decodeReport).flatMap(({ tracesPerQuery }) =>
    Object.entries(tracesPerQuery).flatMap(([key, traces]) =>
      // A decoded message has plain arrays, whatever its type says.
      [...(traces.statsWithContext as Iterable<NonNullable<unknown>>)].map((stats) => toRequests(key, traces, stats)),
    ),
  );
  return rows.sort((left, right) => (toSortKey(left) < toSortKey(right) ? -1 : 1));
}

const toSortKey = ({ key, client, version }: ReportedRequests) => [key, client, version].join('\n');

type Traces = Report['tracesPerQuery'][string];
interface Stats {
  readonly context?: { readonly clientName?: string; readonly clientVersion?: string };
  readonly queryLatencyStats?: Readonly<Record<string, unknown>>;
}

function toRequests(key: string, { referencedFieldsByType = {} }: Traces, stats: Stats): ReportedRequests {
  const counts = stats.queryLatencyStats ?? {};
  const fields = Object.entries(referencedFieldsByType ?? {}).map(([type, { fieldNames, isInterface }]) => {
    return [type, { names: [...(fieldNames ?? [])].sort(), isInterface: isInterface ?? false }] as const;
  });
  return {
    key,
    client: stats.context?.clientName ?? '',
    version: stats.context?.clientVersion ?? '',
    requests: counts['requestCount'] as number,
    withErrors: counts['requestsWithErrorsCount'] as number,
    withoutFields: counts['requestsWithoutFieldInstrumentation'] as number,
    persisted: { hits: counts['persistedQueryHits'] as number, misses: counts['persistedQueryMisses'] as number },
    cacheHits: counts['cacheHits'] as number,
    errors: toPlain(counts['rootErrorStats']) as IPathErrorStats,
    timed: sum(counts['latencyCount']),
    timedCached: sum(counts['cacheLatencyCount']),
    fields: Object.fromEntries(fields),
  };
}

/** A number below 0 stands for so many classes without a duration. */
function sum(counts: unknown): number {
  return (counts as readonly number[]).reduce((total, count) => total + Math.max(count, 0), 0);
}

function toPlain(message: unknown): unknown {
  return JSON.parse(JSON.stringify(message ?? {}));
}

/** A gateway of Apollo. */
export interface ApolloPeer {
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts Apollo Server with @apollo/gateway. It reports each request at once, as statistics. */
export async function startApolloPeer(supergraphSdl: string, endpointUrl: string): Promise<ApolloPeer> {
  // @apollo/gateway reports to its vendor besides.
  process.env['APOLLO_TELEMETRY_DISABLED'] = 'true';
  const silent = { debug: ignore, info: ignore, warn: ignore, error: ignore };
  const server = new ApolloServer({
    gateway: new ApolloGateway({ supergraphSdl, logger: silent }),
    apollo: { key: 'service:shop:secret', graphRef: 'shop@current' },
    introspection: true,
    logger: silent,
    plugins: [
      ApolloServerPluginUsageReporting({
        ...{ endpointUrl, sendReportsImmediately: true, fieldLevelInstrumentation: 0 },
        // Without this its schema is the API schema.
        overrideReportedSchema: supergraphSdl,
      }),
    ],
  });
  const { url } = await startStandaloneServer(server, { listen: { host: '127.0.0.1', port: 0 } });
  return { url, stop: () => server.stop() };
}

function ignore(): void {
  // The log of the peer is of no interest.
}
