/** Sends fetches to subgraphs over kept-alive connections, with limits of time and size and the caller's own headers. */
import { createHistogram, type HistogramSeries } from '@trestle/service/probes/histogram';
import { toPostAttributes } from '@trestle/telemetry/http';
import type { Registry } from 'prom-client';
import { type HeaderRules, NO_HEADER_RULES, compileRequestRules, compileResponseRules } from '../headers/header-rules.ts';
import type { FetchDone } from '../program/result.ts';
import { type Measure, NOT_MEASURED } from '../request/context.ts';
import { createCircuitBreaker } from './traffic/circuit-breaker.ts';
import { startFetch } from './fetch-attempt.ts';
import type { UpstreamRequest } from './upstream-target.ts';
import { ACCEPT_ENCODING } from './decode-body.ts';
import type { QuerySharing } from './query-sharing.ts';
import { createRequestRate } from './traffic/request-rate.ts';
import { createRetryBudget } from './traffic/retry-budget.ts';
import type { RequestSigner } from './signing/request-signer.ts';
import { type Signing, type SubgraphSigning, signingOf } from './signing/signing-settings.ts';
import type { CallbackRegistry } from './subscriptions/callbacks/callback-registry.ts';
import { createSubscriptionPools, openSubscriptions, watchEvents, withRules } from './subscriptions/subscription-pools.ts';
import type { SubscriptionPool, SubscriptionProtocol, SubscriptionUpstream } from './subscriptions/subscription-upstream.ts';
import { toServerAddress } from '@trestle/http-client/server-address';
import type { ClientErrorCode, ReadTls, UpstreamClient } from '@trestle/http-client/upstream-client';
import { type ClientPool, type ClientPoolOptions, type SubgraphPlace, createClientPool } from './clients/subgraph-clients.ts';
import { type SubgraphTraffic, type TrafficSettings, trafficOf } from './traffic/traffic-settings.ts';
import { type UpstreamMetrics, createUpstreamMetrics } from './upstream-metrics.ts';

const NO_TLS: ReadTls = () => undefined;

/** One subgraph. */
export interface Upstream {
  /** Calls back once. Adds the duration, and whether the result is a replay, to the fetch log of the context. */
  send(request: UpstreamRequest, done: FetchDone): void;
  /** The address of its fetches. */
  readonly url: URL;
  /** Describe each fetch in its span. */
  readonly spanAttributes: Readonly<Record<string, string | number>>;
  readonly subscriptions: SubscriptionUpstream;
}

export interface Upstreams {
  /** Returns the subgraph of this name at this URL, unless a setting overrides the URL. */
  open(name: string, url: string): Upstream;
  /** Returns the same with other addresses and limits. */
  at(addresses: SubgraphAddresses): ConfiguredUpstreams;
  close(): Promise<void>;
}

/** The subgraphs of one configuration. */
export interface ConfiguredUpstreams extends Pick<Upstreams, 'open'> {
  /** Closes, after the requests in flight, the connections that no other configuration uses. Called once. */
  retire(): void;
}

/** Addresses of subgraphs, by name in lower case, and how requests are sent there. */
export interface SubgraphAddresses {
  /** Those that replace the ones in the supergraph. */
  readonly urls: ReadonlyMap<string, string>;
  /** Several for one subgraph, in place of one. */
  readonly urlLists?: ReadonlyMap<string, readonly string[]> | undefined;
  /** Those of subscriptions, where they differ from those of fetches. */
  readonly subscriptionUrls: ReadonlyMap<string, string>;
  /** How they send events. Default: `ws`. */
  readonly subscriptionProtocols?: ReadonlyMap<string, SubscriptionProtocol> | undefined;
  /** The limits of requests. Default: {@link DEFAULT_TRAFFIC} for all. */
  readonly traffic?: TrafficSettings | undefined;
  /** Which requests are signed. Default: none. */
  readonly signing?: SubgraphSigning | undefined;
}

export interface UpstreamOptions extends SubgraphAddresses {
  /** Whether subgraphs may compress their responses. Default false. */
  readonly hasCompression?: boolean;
  /** Sends equal queries in flight once. Default: each is sent. */
  readonly sharing?: QuerySharing | undefined;
  /** Called for each change: when a mutation is sent, when it has ended, and when an event arrives. */
  readonly onChange?: (() => void) | undefined;
  /** Receives events of subgraphs with the protocol `callback`, which need it. */
  readonly callbacks?: CallbackRegistry | undefined;
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
  /** Returns what reads the certificates for connections to a subgraph, by its name. Default: those of Node.js. */
  readonly tls?: (name: string) => ReadTls;
  /** Returns what signs requests by these settings. Needed where addresses have some. */
  readonly signers?: (signing: Signing) => RequestSigner;
  readonly metrics: Registry;
}

/** Creates the connections to all subgraphs. They are opened when they are first needed. */
export function createUpstreams(options: UpstreamOptions): Upstreams {
  const { hasCompression = false, headerRules = NO_HEADER_RULES, forwardHeaders = [], forwardResponseHeaders = [] } = options;
  const { pingIntervalMs, measure = NOT_MEASURED, tls = () => NO_TLS, metrics, sharing } = options;
  const shared = { forwardResponseHeaders, measure, headers: hasCompression ? ACCEPT_ENCODING : [] };
  const noteChange = createNoteChange(options);
  const pools = createSubscriptionPools(pingIntervalMs, options.callbacks);
  const durations = createDurations(metrics);
  const connections = createUpstreamMetrics(metrics);
  const clients = createClients({ tls }, { connections, sharing });
  const openPlace = (place: SubgraphPlace, { subscriptionUrls, subscriptionProtocols }: SubgraphAddresses): Upstream => {
    const { name, urls, traffic, signer } = place;
    const [first] = urls as [URL];
    const { client, uploadClient, health } = clients.open(place);
    const rewrite = compileRequestRules(headerRules, name, forwardHeaders);
    const target = {
      ...{ name, client, uploadClient, rewrite },
      path: toServerAddress(first).path,
      hasAddresses: health !== undefined,
      returned: compileResponseRules(headerRules, name),
      ...shared,
      ...createGuards(traffic),
      observe: createObserve((outcome) => durations({ subgraph: name, outcome })),
      ...toCounters(connections, name),
      onMutation: noteChange,
    };
    const key = name.toLowerCase();
    const pool = pools[subscriptionProtocols?.get(key) ?? 'ws'] as SubscriptionPool;
    const subscriptions = openSubscriptions(pool, { name, urls: subscriptionUrls.get(key) ?? urls, tls: tls(name), signer }, health);
    return {
      url: first,
      spanAttributes: { ...toPostAttributes(first), 'trestle.subgraph': name },
      subscriptions: withRules(watchEvents(subscriptions, noteChange), rewrite),
      send: (request, done) => {
        startFetch(target, request, done);
      },
    };
  };
  const at = (addresses: SubgraphAddresses): ConfiguredUpstreams => {
    const opened: SubgraphPlace[] = [];
    return {
      open(name, url) {
        const signing = signingOf(name, addresses.signing);
        const place = { ...toPlace({ name, url }, addresses), signer: signing && options.signers?.(signing) };
        opened.push(place);
        return openPlace(place, addresses);
      },
      retire() {
        for (const place of opened.splice(0)) clients.release(place);
      },
    };
  };
  return {
    ...at(options),
    at,
    close: async () => {
      for (const pool of Object.values(pools)) pool?.close();
      await clients.close();
    },
  };
}

/** After a change, no query may get what was read before it. */
function createNoteChange({ sharing, onChange }: Pick<UpstreamOptions, 'sharing' | 'onChange'>): () => void {
  return () => {
    sharing?.forget();
    onChange?.();
  };
}

/** Returns the addresses and the limits of a subgraph, from its settings, else from the supergraph. */
function toPlace({ name, url }: { readonly name: string; readonly url: string }, addresses: SubgraphAddresses): SubgraphPlace {
  const key = name.toLowerCase();
  const urls = (addresses.urlLists?.get(key) ?? [addresses.urls.get(key) ?? url]).map((each) => new URL(each));
  return { name, urls, traffic: trafficOf(name, addresses.traffic) };
}

/** Creates what limits the requests to one subgraph. */
function createGuards({ requestsPerSecond, breakerFailures, breakerOpenMs, retryPercent, retryStatuses, ...limits }: SubgraphTraffic) {
  return {
    rate: createRequestRate({ perSecond: requestsPerSecond }),
    breaker: createCircuitBreaker({ maxFailures: breakerFailures, openMs: breakerOpenMs }),
    retries: createRetryBudget(retryPercent),
    retryStatuses: retryStatuses.length > 0 ? new Set(retryStatuses) : undefined,
    maxResponseBytes: limits.maxResponseBytes,
    timeoutMs: limits.timeoutMs,
  };
}

function createDurations(registry: Registry) {
  return createHistogram({
    registry,
    name: 'trestle_subgraph_fetch_duration_seconds',
    help: 'Time from sending a fetch to a subgraph to its whole response.',
    labelNames: ['subgraph', 'outcome'],
  });
}

/** Creates the pool of all clients. Its clients are part of the metrics while they have connections. */
function createClients(options: Pick<ClientPoolOptions, 'tls'>, { connections, sharing }: ClientWatch): ClientPool {
  return createClientPool({
    ...options,
    watch: (name, client) => watchClient(name, client, { connections, sharing }),
    unwatch: (name, client) => {
      connections.unwatch(name, client);
    },
    onEject: (name, url) => {
      connections.countEjection(name, url.host || url.pathname);
    },
  });
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

/** Returns what adds a duration to the series of its outcome; `open` opens the series. */
function createObserve(open: (outcome: string) => HistogramSeries): (outcome: string, seconds: number) => void {
  const byOutcome = new Map<string, HistogramSeries>();
  return (outcome, seconds) => {
    let series = byOutcome.get(outcome);
    if (!series) byOutcome.set(outcome, (series = open(outcome)));
    series.observe(seconds);
  };
}
