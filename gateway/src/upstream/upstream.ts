/** Sends fetches to subgraphs over kept-alive connections, with limits of time and size and the caller's own headers. */
import type { Readable } from 'node:stream';
import { createHistogram, type HistogramSeries } from '@trestle/service/histogram';
import type { Registry } from 'prom-client';
import { type HeaderRules, NO_HEADER_RULES, compileRequestRules, compileResponseRules } from '../headers/header-rules.ts';
import type { FetchDone } from '../program/result.ts';
import { type Measure, NOT_MEASURED } from '../request/context.ts';
import { createCircuitBreaker } from './circuit-breaker.ts';
import { type UpstreamRequest, type UpstreamTarget, startFetch } from './fetch-attempt.ts';
import { ACCEPT_ENCODING } from './decode-body.ts';
import { createConnectionPool } from '@trestle/http-client/connection-pool';
import { QuerySharing } from './query-sharing.ts';
import { createRetryBudget } from './retry-budget.ts';
import { type SubscriptionUpstream, createSubgraphSockets } from './subgraph-sockets.ts';
import { createUndiciClient } from '@trestle/http-client/undici-client';
import type { ClientErrorCode, UpstreamClient } from '@trestle/http-client/upstream-client';
import { type SubgraphTraffic, type TrafficSettings, trafficOf } from './traffic-settings.ts';
import { type UpstreamMetrics, createUpstreamMetrics } from './upstream-metrics.ts';

const CONNECT_TIMEOUT_MS = 2000;
const MAX_RESPONSE_BYTES = 32 * 1024 * 1024;

/** One subgraph. */
export interface Upstream {
  /** Calls back once. Adds the duration, and whether the result is a replay, to the fetch log of the context. */
  send(request: UpstreamRequest, done: FetchDone): void;
  /** The address of its fetches. */
  readonly url: URL;
  readonly subscriptions: SubscriptionUpstream;
}

export interface Upstreams {
  /** Returns the subgraph of this name at this URL, unless a setting overrides the URL. */
  open(name: string, url: string): Upstream;
  /** Returns the same with other addresses and limits. */
  at(addresses: SubgraphAddresses): Pick<Upstreams, 'open'>;
  close(): Promise<void>;
}

/** The clients that can send fetches: ours, for HTTP/1.1, and that of undici, for HTTP/1.1 and HTTP/2. */
export const UPSTREAM_CLIENTS = ['lean', 'undici'] as const;
export type UpstreamClientName = (typeof UPSTREAM_CLIENTS)[number];

/** Addresses of subgraphs, by name in lower case, and how requests are sent there. */
export interface SubgraphAddresses {
  /** Those that replace the ones in the supergraph. */
  readonly urls: ReadonlyMap<string, string>;
  /** Those of subscriptions, where they differ from those of fetches. */
  readonly subscriptionUrls: ReadonlyMap<string, string>;
  /** The limits of requests. Default: {@link DEFAULT_TRAFFIC} for all. */
  readonly traffic?: TrafficSettings | undefined;
}

export interface UpstreamOptions extends SubgraphAddresses {
  /** Default `lean`. */
  readonly client?: UpstreamClientName;
  /** Whether subgraphs may compress their responses. Default false. */
  readonly hasCompression?: boolean;
  /** Whether equal queries in flight are sent once. Default false. */
  readonly isSharing?: boolean;
  /** How often WebSockets to subgraphs are pinged. */
  readonly pingIntervalMs: number;
  /** Rules for headers; none by default. */
  readonly headerRules?: HeaderRules;
  /** Names, in lower case, of request headers that all subgraphs get without a rule. */
  readonly forwardHeaders?: readonly string[];
  /** Names, in lower case, of response headers of mutations that go back to the client; none by default. */
  readonly forwardResponseHeaders?: readonly string[];
  /** Measures how much time the responses of each client's fetches take; not measured by default. */
  readonly measure?: Measure;
  readonly metrics: Registry;
}

/** Creates the connections to all subgraphs. They are opened when they are first needed. */
export function createUpstreams(options: UpstreamOptions): Upstreams {
  const { hasCompression = false, headerRules = NO_HEADER_RULES, forwardHeaders = [], forwardResponseHeaders = [] } = options;
  const { pingIntervalMs, measure = NOT_MEASURED, metrics } = options;
  const shared = { maxResponseBytes: MAX_RESPONSE_BYTES, forwardResponseHeaders, measure };
  const sharing = options.isSharing === true ? new QuerySharing() : undefined;
  const clients = new Map<string, UpstreamClient>();
  const uploadClients = new Map<string, UpstreamClient<Readable>>();
  const sockets = createSubgraphSockets({ pingIntervalMs });
  const durations = createHistogram({
    registry: metrics,
    name: 'trestle_subgraph_fetch_duration_seconds',
    help: 'Time from sending a fetch to a subgraph to its whole response.',
    labelNames: ['subgraph', 'outcome'],
  });
  const connections = createUpstreamMetrics(metrics);
  const clientOf = (name: string, origin: string, traffic: SubgraphTraffic): UpstreamClient => {
    // Subgraphs at one origin have connections of their own: a slow one must not use up those of the others.
    const key = `${name} ${toKey(origin, traffic)}`;
    const client = clients.get(key) ?? watchClient(name, createClient({ origin, traffic }, options), { connections, sharing });
    clients.set(key, client);
    return client;
  };
  const at = ({ urls, subscriptionUrls, traffic: settings }: SubgraphAddresses): Pick<Upstreams, 'open'> => ({
    open(name, url) {
      const address = urls.get(name.toLowerCase()) ?? url;
      const parsed = new URL(address);
      const traffic = trafficOf(name, settings);
      const rewrite = compileRequestRules(headerRules, name, forwardHeaders);
      const target = {
        name,
        client: clientOf(name, parsed.origin, traffic),
        uploadClient: openOnce(uploadClients, { origin: parsed.origin, traffic }),
        path: parsed.pathname + parsed.search,
        rewrite,
        returned: compileResponseRules(headerRules, name),
        headers: hasCompression ? ACCEPT_ENCODING : [],
        ...shared,
        breaker: createCircuitBreaker({ maxFailures: traffic.breakerFailures, openMs: traffic.breakerOpenMs }),
        retries: createRetryBudget(traffic.retryPercent),
        observe: createObserve((outcome) => durations({ subgraph: name, outcome })),
        ...toCounters(connections, name),
        onMutation: () => sharing?.forget(),
      };
      return {
        url: parsed,
        subscriptions: withRules(watchEvents(sockets.open(subscriptionUrls.get(name.toLowerCase()) ?? address), sharing), rewrite),
        send: (request, done) => {
          startFetch(target, request, done);
        },
      };
    },
  });
  return {
    ...at(options),
    at,
    close: async () => {
      sockets.close();
      await Promise.all([...clients.values(), ...uploadClients.values()].map((client) => client.close()));
    },
  };
}

interface ClientWatch {
  readonly connections: UpstreamMetrics;
  readonly sharing: QuerySharing | undefined;
}

/** Adds the client to the metrics. Returns the client that sends equal queries once, or the client itself. */
function watchClient(name: string, client: UpstreamClient, { connections, sharing }: ClientWatch): UpstreamClient {
  connections.watch(name, client);
  return sharing ? sharing.wrap(client, connections.countShared(name)) : client;
}

/** An event follows a change, so the fetches for it must not get what was read before the change. */
function watchEvents(subscriptions: SubscriptionUpstream, sharing: QuerySharing | undefined): SubscriptionUpstream {
  if (!sharing) return subscriptions;
  return {
    ...subscriptions,
    subscribe: (request, receiver) =>
      subscriptions.subscribe(request, {
        ...receiver,
        next(result) {
          sharing.forget();
          receiver.next(result);
        },
      }),
  };
}

/** Rules apply to what identifies the caller to a subgraph's WebSocket, too. */
function withRules(subscriptions: SubscriptionUpstream, rewrite: UpstreamTarget['rewrite']): SubscriptionUpstream {
  if (!rewrite) return subscriptions;
  return {
    ...subscriptions,
    subscribe: (request, receiver) => subscriptions.subscribe({ ...request, identity: rewrite(request.identity) }, receiver),
  };
}

function toCounters(connections: UpstreamMetrics, name: string) {
  return {
    onError: (code: ClientErrorCode) => {
      connections.countError(name, code);
    },
    onRetry: () => {
      connections.countRetry(name);
    },
  };
}

/** Where a client sends requests, and its limits. */
interface ClientPlace {
  readonly origin: string;
  readonly traffic: SubgraphTraffic;
}

/** A client keeps its limits: with others, the next requests go through another client, and its idle connections are closed. */
function toKey(origin: string, { timeoutMs, maxConnections }: SubgraphTraffic): string {
  return `${origin} ${String(timeoutMs)} ${String(maxConnections)}`;
}

function createClient(place: ClientPlace, options: UpstreamOptions): UpstreamClient {
  const create = options.client === 'undici' ? createUndiciClient : createConnectionPool;
  return create(place.origin, toClientOptions(place));
}

/** Returns the client for requests with files, which has connections of its own: they are busy for long. */
function openOnce(clients: Map<string, UpstreamClient<Readable>>, place: ClientPlace): UpstreamClient<Readable> {
  const key = toKey(place.origin, place.traffic);
  const client = clients.get(key) ?? createUndiciClient(place.origin, toClientOptions(place));
  clients.set(key, client);
  return client;
}

function toClientOptions({ traffic: { timeoutMs, maxConnections } }: ClientPlace) {
  return { maxConnections, connectTimeoutMs: CONNECT_TIMEOUT_MS, timeoutMs, maxResponseBytes: MAX_RESPONSE_BYTES };
}

/** Returns what adds a duration to the series of its outcome; `open` opens the series. */
function createObserve(open: (outcome: string) => HistogramSeries): (outcome: string, seconds: number) => void {
  const byOutcome = new Map<string, HistogramSeries>();
  return (outcome, seconds) => {
    let series = byOutcome.get(outcome);
    if (!series) byOutcome.set(outcome, (series = open(outcome)));
    series.observe(seconds);
  };
}
