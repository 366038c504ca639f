/** One graph of the process: its supergraph, its engine, its check of credentials, and its transports. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Log } from '@trestle/log';
import type { Registry } from 'prom-client';
import { UNPROTECTED_WARNING } from './access/denial.ts';
import { type CacheSettings, createCache } from './cache/create-cache.ts';
import { invalidateByEvents } from './cache/events/invalidate-by-events.ts';
import type { ResponseCache } from './cache/response-cache.ts';
import { DEFAULT_CACHING } from './cache/subgraph-caching.ts';
import { type Config, type GraphConfig, silenceVendorTelemetry } from './config.ts';
import { createApiKeys, createVerifier } from './credentials.ts';
import { createMcp } from './create-mcp.ts';
import type { Engine } from './engines/engine.ts';
import { createTrestleEngine } from './engines/trestle.ts';
import type { Hooks } from './extensions/compile-hooks.ts';
import { loadHooks } from './extensions/load-extensions.ts';
import { hasClaims } from './headers/header-rules.ts';
import { registerSupergraphs } from './observability/supergraph-metrics.ts';
import { createPipeline } from './pipeline.ts';
import { type QueriesInFlight, createQueriesInFlight } from './queries-in-flight.ts';
import type { Measure } from './request/context.ts';
import { toRuntimeSettings } from './runtime-settings.ts';
import { createSourceMetrics } from './sources/source-metrics.ts';
import { startSupergraph } from './sources/start-supergraph.ts';
import { startDocuments } from './start-documents.ts';
import { type SubgraphTls, createSubgraphTls } from './tls/subgraph-tls.ts';
import type { Endpoint } from './transports/http/admitted-request.ts';
import { createInvalidationEndpoint } from './transports/http/invalidation-endpoint.ts';
import { createSigners } from './upstream/signing/request-signer.ts';
import { createUpstreams } from './upstream/upstream.ts';
import { createUsage, findUsageFormat } from './usage/create-usage.ts';
import { createTransports } from './create-transports.ts';
import type { Observers, SharedParts } from './shared-parts.ts';

/** A graph that is ready to serve. */
export interface Graph {
  readonly place: GraphConfig['place'];
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void;
  readonly upgrade: (request: IncomingMessage, stream: Duplex, head: Buffer) => void;
  /** Applies a changed configuration; undefined for an engine that uses settings at its start only. */
  readonly apply: ((next: Config) => Promise<void>) | undefined;
  /** The supergraphs that are served, the current one first. */
  readonly readServed: () => Engine['served'];
  /** Stops watching for changes of the supergraph and of keys, and for revocations. */
  stopWatching(): void;
  /** Closes the subscriptions. */
  drain(): Promise<void>;
  /** Ends everything else, once no request is in flight. */
  stop(): Promise<void>;
}

/** Loads the supergraph, and starts what serves it. Rejects when there is none that can be served. */
export async function startGraph(
  { place, config }: GraphConfig,
  { log, metrics, shared }: { readonly log: Log; readonly metrics: Registry; readonly shared: SharedParts },
): Promise<Graph> {
  const measure: Measure = (client = '', act) => {
    shared.admission.measure(client, act);
  };
  warnUnprotected(config, log);
  const hooks = await loadHooks(config.extensions, { measure, log, metrics });
  const inFlight = createQueriesInFlight(config, metrics);
  const cache = await createCache(toCacheSettings(config), { graph: place.name, onInvalidated: inFlight.forget, log, metrics });
  const usage = await createUsage(config, { log, metrics });
  const tls = createSubgraphTls(config.subgraphTls, log);
  const createEngine = prepareEngine(config, { log, metrics, measure, hooks, cache, inFlight, tls, ...shared });
  const sourceMetrics = createSourceMetrics(metrics);
  const supergraph = await startSupergraph({ settings: config.supergraph, createEngine, log, metrics: sourceMetrics });
  const { engine } = supergraph;
  registerSupergraphs(metrics, () => engine.served);
  const verification = await createVerifier(config, { log, metrics });
  const apiKeys = createApiKeys(config, { verifier: verification.verifier, metrics });
  const documents = startDocuments(config, { log, metrics });
  const run = createPipeline({ documents: documents.lookup, engine, signInFields: config.signInFields, hooks, measure, log, usage });
  const { readTrusted } = documents;
  const mcp = await createMcp({ place, config }, { engine, readTrusted, edge: shared.edge, log });
  const endpoints = [...createInvalidation(config, cache), ...mcp];
  let current = config;
  const hasSubscriptions = () => current.limits.hasSubscriptions;
  const { verifier } = verification;
  const parts = { ...shared, endpoints, run, hooks, readTrusted, verifier, apiKeys, metrics, log, hasSubscriptions };
  const transports = createTransports({ place, config }, parts);
  const stopEvents = invalidateByEvents(config, { cache, engine, log, metrics });
  const { reconfigure } = engine;
  return {
    place,
    handle: transports.handle,
    upgrade: transports.upgrade,
    apply:
      reconfigure &&
      createApply(reconfigure, tls, (next) => {
        current = next;
        cache?.subgraphs.use(next.caching ?? DEFAULT_CACHING);
        warnUnprotected(next, log);
      }),
    readServed: () => engine.served,
    stopWatching: () => {
      supergraph.stop();
      tls.stop();
      verification.stop();
      documents.stopWatching();
      stopEvents();
    },
    drain: transports.drain,
    stop: async () => {
      await Promise.all([engine.stop(), apiKeys?.close(), usage?.stop()]);
      cache?.close();
      documents.stop();
      await hooks.stop();
    },
  };
}

/** Returns the function that applies a changed configuration as a whole, or rejects and changes nothing. */
function createApply(
  reconfigure: NonNullable<Engine['reconfigure']>,
  tls: SubgraphTls,
  onSwitch: (next: Config) => void,
): NonNullable<Graph['apply']> {
  return async (next) => {
    const settings = toRuntimeSettings(next);
    const certificates = tls.prepare(next.subgraphTls);
    try {
      await reconfigure(settings, () => {
        certificates.use();
        onSwitch(next);
      });
    } finally {
      certificates.discard();
    }
  };
}

/** Creates the endpoint that invalidates results; none without a cache, or without a key. */
function createInvalidation({ RESPONSE_CACHE_KEY: key }: Config, cache: ResponseCache | undefined): readonly Endpoint[] {
  return cache && key !== undefined ? [createInvalidationEndpoint(cache, key)] : [];
}

function warnUnprotected({ limits }: Pick<Config, 'limits'>, log: Log): void {
  if (limits.deniedFields === 'unprotected') log.warn(UNPROTECTED_WARNING);
}

/** With rules that take values from tokens, callers share no results, because these values differ by caller. */
function toCacheSettings({ responseCache, caching: subgraphs, headerRules }: Config): CacheSettings {
  const settings = { ...responseCache, subgraphs };
  return hasClaims(headerRules) ? { ...settings, sharing: 'anonymous' } : settings;
}

interface EngineParts extends Pick<SharedParts, 'admission' | 'startPlanner' | 'callbacks'> {
  readonly measure: Measure;
  readonly hooks: Hooks;
  readonly cache: ResponseCache | undefined;
  readonly inFlight: QueriesInFlight;
  readonly tls: SubgraphTls;
}

/** Returns what creates the engine for a supergraph. Loads only the engine that is used: that of Apollo is larger than everything else. */
function prepareEngine(
  config: Config,
  { log, metrics, measure, hooks, cache, inFlight, tls, admission, startPlanner, callbacks }: Observers & EngineParts,
): (supergraphSdl: string) => Promise<Engine> {
  const settings = toRuntimeSettings(config);
  const upstreams = createUpstreams({
    hasCompression: config.UPSTREAM_COMPRESSION,
    sharing: inFlight.requests,
    onChange: () => inFlight.executions?.forget(),
    ...settings.addresses,
    callbacks,
    pingIntervalMs: config.PING_INTERVAL_MS,
    forwardHeaders: config.forwardHeaders,
    forwardResponseHeaders: config.forwardResponseHeaders,
    headerRules: config.headerRules,
    tls: (name) => tls.of(name),
    signers: createSigners(log),
    measure,
    metrics,
  });
  return async (supergraphSdl) => {
    const options = { supergraphSdl, upstreams, log, metrics, measure, ...settings };
    if (config.GATEWAY_ENGINE === 'trestle')
      return createTrestleEngine({
        ...options,
        isShared: () => admission.hasSeveralClients(),
        startPlanner,
        executor: config.EXECUTOR,
        isOverwriting: config.OVERWRITE_MEMORY,
        subscriptions: config.subscriptions,
        hooks,
        cache,
        shared: inFlight.executions,
        canary: {
          header: config.CANARY_HEADER,
          minRequests: config.CANARY_MIN_REQUESTS,
          errorFactor: config.CANARY_ERROR_FACTOR,
          p95Factor: config.CANARY_P95_FACTOR,
        },
        usageFormat: findUsageFormat(config),
        batchesEntities: config.BATCH_ENTITIES,
        warmUp: { maxOperations: config.WARM_UP_OPERATIONS, maxMs: config.WARM_UP_TIMEOUT_MS },
      });
    silenceVendorTelemetry();
    const { createApolloEngine } = await import('./engines/apollo.ts');
    return createApolloEngine(options);
  };
}
