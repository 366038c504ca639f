/** The settings of requests to subgraphs: for all, and below `subgraphs.<name>.traffic` for single ones. */
import { SettingsError, type SettingReader, findFault, readFamily, setting } from '@trestle/env';
import { MAX_EJECTION_MS } from '../../upstream/clients/address-health.ts';
import {
  DEFAULT_TRAFFIC,
  type SubgraphTraffic,
  type TrafficSettings,
  UPSTREAM_CLIENTS,
  type UpstreamClientName,
} from '../../upstream/traffic/traffic-settings.ts';

const client = () => setting.choice(...UPSTREAM_CLIENTS);
const timeLimit = () => setting.integer(100, 300_000);
const connections = () => setting.integer(1, 1024);
const idleTime = () => setting.integer(100, 600_000);
const percentage = () => setting.integer(0, 100);
const statuses = () => setting.integers(400, 599);
const failures = () => setting.integer(0, 100_000);
const ejection = () => setting.integer(10, MAX_EJECTION_MS);
const pause = () => setting.integer(10, 600_000);
const rate = () => setting.integer(0, 1_000_000);
const responseBytes = () => setting.integer(1024, 268_435_456);

/** The settings for all subgraphs. */
export const trafficSettings = {
  UPSTREAM_CLIENT: client().default(DEFAULT_TRAFFIC.client),
  SUBGRAPH_TIMEOUT_MS: timeLimit().default(DEFAULT_TRAFFIC.timeoutMs),
  SUBGRAPH_MAX_CONNECTIONS: connections().default(DEFAULT_TRAFFIC.maxConnections),
  SUBGRAPH_IDLE_TIMEOUT_MS: idleTime().optional(),
  SUBGRAPH_RETRY_PERCENT: percentage().default(DEFAULT_TRAFFIC.retryPercent),
  SUBGRAPH_RETRY_STATUSES: statuses().default([]),
  SUBGRAPH_BREAKER_FAILURES: failures().default(DEFAULT_TRAFFIC.breakerFailures),
  SUBGRAPH_BREAKER_OPEN_MS: pause().default(DEFAULT_TRAFFIC.breakerOpenMs),
  SUBGRAPH_EJECTION_FAILURES: failures().default(DEFAULT_TRAFFIC.ejectionFailures),
  SUBGRAPH_EJECTION_MS: ejection().default(DEFAULT_TRAFFIC.ejectionMs),
  SUBGRAPH_REQUESTS_PER_SECOND: rate().default(DEFAULT_TRAFFIC.requestsPerSecond),
  SUBGRAPH_MAX_RESPONSE_BYTES: responseBytes().default(DEFAULT_TRAFFIC.maxResponseBytes),
  SUBGRAPH_PERSISTED_QUERIES: setting.onOff().default(DEFAULT_TRAFFIC.persistedQueries),
};

/** Those of one subgraph: the key in a configuration file, and the prefix of the environment variable. */
export const subgraphTrafficSettings = {
  'traffic.client': { prefix: 'UPSTREAM_CLIENT_', reader: client() },
  'traffic.timeoutMs': { prefix: 'SUBGRAPH_TIMEOUT_MS_', reader: timeLimit() },
  'traffic.maxConnections': { prefix: 'SUBGRAPH_MAX_CONNECTIONS_', reader: connections() },
  'traffic.idleTimeoutMs': { prefix: 'SUBGRAPH_IDLE_TIMEOUT_MS_', reader: idleTime() },
  'traffic.retryPercent': { prefix: 'SUBGRAPH_RETRY_PERCENT_', reader: percentage() },
  'traffic.retryStatuses': { prefix: 'SUBGRAPH_RETRY_STATUSES_', reader: statuses() },
  'traffic.breakerFailures': { prefix: 'SUBGRAPH_BREAKER_FAILURES_', reader: failures() },
  'traffic.breakerOpenMs': { prefix: 'SUBGRAPH_BREAKER_OPEN_MS_', reader: pause() },
  'traffic.ejectionFailures': { prefix: 'SUBGRAPH_EJECTION_FAILURES_', reader: failures() },
  'traffic.ejectionMs': { prefix: 'SUBGRAPH_EJECTION_MS_', reader: ejection() },
  'traffic.requestsPerSecond': { prefix: 'SUBGRAPH_REQUESTS_PER_SECOND_', reader: rate() },
  'traffic.maxResponseBytes': { prefix: 'SUBGRAPH_MAX_RESPONSE_BYTES_', reader: responseBytes() },
  'traffic.persistedQueries': { prefix: 'SUBGRAPH_PERSISTED_QUERIES_', reader: setting.onOff() },
} as const satisfies Readonly<Record<`traffic.${keyof SubgraphTraffic}`, { readonly prefix: string; readonly reader: SettingReader }>>;

type TrafficValues = Readonly<
  Record<
    Exclude<
      keyof typeof trafficSettings,
      'UPSTREAM_CLIENT' | 'SUBGRAPH_PERSISTED_QUERIES' | 'SUBGRAPH_RETRY_STATUSES' | 'SUBGRAPH_IDLE_TIMEOUT_MS'
    >,
    number
  > & {
    UPSTREAM_CLIENT: UpstreamClientName;
    SUBGRAPH_IDLE_TIMEOUT_MS?: number | undefined;
    SUBGRAPH_RETRY_STATUSES: readonly number[];
    UPSTREAM_COMPRESSION: boolean;
    SUBGRAPH_PERSISTED_QUERIES: boolean;
  }
>;
/** A compressed refusal of a hash would have to be decoded before it is known as one. */
const NO_COMPRESSION = 'UPSTREAM_COMPRESSION: traffic.compression must be off with traffic.persistedQueries';

type Values = Readonly<Record<string, string | undefined>>;

/** Returns the limits of all subgraphs. `env` has those of single ones. Throws SettingsError that names every invalid value. */
export function readTraffic(values: TrafficValues, env: Values): TrafficSettings {
  const bySubgraph = new Map<string, Partial<SubgraphTraffic>>();
  const faults: string[] = [];
  for (const [key, { prefix, reader }] of Object.entries(subgraphTrafficSettings))
    for (const [name, text] of readFamily(prefix, env)) {
      const fault = findFault(reader, text);
      if (fault === undefined) bySubgraph.set(name, { ...bySubgraph.get(name), [key.slice('traffic.'.length)]: reader.parse(text) });
      else faults.push(`${prefix}${name.toUpperCase()}: ${fault}`);
    }
  const hasPersisted =
    values.SUBGRAPH_PERSISTED_QUERIES || [...bySubgraph.values()].some(({ persistedQueries }) => persistedQueries === true);
  if (hasPersisted && values.UPSTREAM_COMPRESSION) faults.push(NO_COMPRESSION);
  if (faults.length > 0) throw new SettingsError(faults.join('\n'));
  return {
    all: {
      client: values.UPSTREAM_CLIENT,
      timeoutMs: values.SUBGRAPH_TIMEOUT_MS,
      maxConnections: values.SUBGRAPH_MAX_CONNECTIONS,
      idleTimeoutMs: values.SUBGRAPH_IDLE_TIMEOUT_MS,
      retryPercent: values.SUBGRAPH_RETRY_PERCENT,
      retryStatuses: values.SUBGRAPH_RETRY_STATUSES,
      breakerFailures: values.SUBGRAPH_BREAKER_FAILURES,
      breakerOpenMs: values.SUBGRAPH_BREAKER_OPEN_MS,
      ejectionFailures: values.SUBGRAPH_EJECTION_FAILURES,
      ejectionMs: values.SUBGRAPH_EJECTION_MS,
      requestsPerSecond: values.SUBGRAPH_REQUESTS_PER_SECOND,
      maxResponseBytes: values.SUBGRAPH_MAX_RESPONSE_BYTES,
      persistedQueries: values.SUBGRAPH_PERSISTED_QUERIES,
    },
    bySubgraph,
  };
}
