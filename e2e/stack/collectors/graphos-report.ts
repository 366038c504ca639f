/** Reads reports of usage to GraphOS, and runs the gateway of Apollo that sends them as ours does. */
import { gunzipSync } from 'node:zlib';
import { ApolloGateway } from '@apollo/gateway';
import { ApolloServer } from '@apollo/server';
import { ApolloServerPluginUsageReporting } from '@apollo/server/plugin/usageReporting';
import { startStandaloneServer } from '@apollo/server/standalone';
import { type IContextualizedStats, type IPathErrorStats, type ITracesAndStats, Report } from '@apollo/usage-reporting-protobuf';
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
  /** `PathErrorStats` as JSON. */
  readonly errors: object;
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
      // A decoded message has arrays, where one that is encoded may have objects with `toArray`.
      (traces.statsWithContext as readonly IContextualizedStats[]).map((stats) => toRequests(key, traces, stats)),
    ),
  );
  return rows.sort((left, right) => (toSortKey(left) < toSortKey(right) ? -1 : 1));
}

const toSortKey = ({ key, client, version }: ReportedRequests) => [key, client, version].join('\n');

function toRequests(
  key: string,
  { referencedFieldsByType }: ITracesAndStats,
  { context, queryLatencyStats: counts }: IContextualizedStats,
): ReportedRequests {
  const fields = Object.entries(referencedFieldsByType ?? {}).map(([type, { fieldNames, isInterface }]) => {
    return [type, { names: [...(fieldNames ?? [])].sort(), isInterface: isInterface ?? false }] as const;
  });
  return {
    key,
    client: context?.clientName ?? '',
    version: context?.clientVersion ?? '',
    requests: counts?.requestCount ?? 0,
    withErrors: counts?.requestsWithErrorsCount ?? 0,
    withoutFields: counts?.requestsWithoutFieldInstrumentation ?? 0,
    persisted: { hits: counts?.persistedQueryHits ?? 0, misses: counts?.persistedQueryMisses ?? 0 },
    cacheHits: counts?.cacheHits ?? 0,
    errors: toPlain(counts?.rootErrorStats),
    timed: sum(counts?.latencyCount as readonly number[]),
    timedCached: sum(counts?.cacheLatencyCount as readonly number[]),
    fields: Object.fromEntries(fields),
  };
}

/** A number below 0 stands for so many classes without a duration. */
function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + Math.max(count, 0), 0);
}

/** Returns what assertions can compare. */
function toPlain(errors: IPathErrorStats | null | undefined): object {
  return JSON.parse(JSON.stringify(errors ?? {})) as object;
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
