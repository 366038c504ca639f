/** The limits of requests to subgraphs: those for all, and those of single subgraphs. Types and defaults only. */

/**
 * The clients that can send fetches: ours, for HTTP/1.1; that of undici, for HTTP/1.1, and for HTTP/2 where a subgraph offers it; and that of Node.js
 * for HTTP/2 alone.
 */
export const UPSTREAM_CLIENTS = ['lean', 'undici', 'http2'] as const;
export type UpstreamClientName = (typeof UPSTREAM_CLIENTS)[number];

/** The limits of the requests to one subgraph. */
export interface SubgraphTraffic {
  readonly client: UpstreamClientName;
  /** The time limit of a fetch with its retry, up to the last byte of the response. A fetch with files may take longer: it limits each pause. */
  readonly timeoutMs: number;
  /** The most connections to each address; with the client `http2` the most requests in flight. */
  readonly maxConnections: number;
  /** How long an idle connection is kept; undefined for as long as the server says. */
  readonly idleTimeoutMs: number | undefined;
  /** How many retries are allowed for 100 requests; 0 for none. */
  readonly retryPercent: number;
  /** The statuses of responses after which a query is sent again. */
  readonly retryStatuses: readonly number[];
  /** How many failures within 10 s, without a success in between, open the circuit; 0 for no circuit breaker. */
  readonly breakerFailures: number;
  /** How long an open circuit allows no request. */
  readonly breakerOpenMs: number;
  /** How many failures, without a success in between, eject one of several addresses; 0 for never. */
  readonly ejectionFailures: number;
  /** For how long, the first time; each further time doubles it. */
  readonly ejectionMs: number;
  /** How many requests it gets in a second, from each process; 0 for no limit. */
  readonly requestsPerSecond: number;
  /** Bytes of a response, as it is sent and decompressed. */
  readonly maxResponseBytes: number;
  /** Whether the hash of a document is sent in its place. */
  readonly persistedQueries: boolean;
}

/** The limits of all subgraphs. */
export interface TrafficSettings {
  readonly all: SubgraphTraffic;
  /** What differs, by the subgraph's name in lower case. */
  readonly bySubgraph: ReadonlyMap<string, Partial<SubgraphTraffic>>;
}

/** The limits that hold without a setting. */
export const DEFAULT_TRAFFIC: SubgraphTraffic = {
  client: 'lean',
  timeoutMs: 10_000,
  maxConnections: 64,
  idleTimeoutMs: undefined,
  retryPercent: 10,
  retryStatuses: [],
  breakerFailures: 10,
  breakerOpenMs: 500,
  ejectionFailures: 5,
  ejectionMs: 1000,
  requestsPerSecond: 0,
  maxResponseBytes: 32 * 1024 * 1024,
  persistedQueries: false,
};

const NO_SETTINGS: TrafficSettings = { all: DEFAULT_TRAFFIC, bySubgraph: new Map() };

/** Returns the limits of a subgraph. */
export function trafficOf(name: string, { all, bySubgraph }: TrafficSettings = NO_SETTINGS): SubgraphTraffic {
  return { ...all, ...bySubgraph.get(name.toLowerCase()) };
}
