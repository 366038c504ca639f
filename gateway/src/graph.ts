/** One graph of the process: its supergraph, its engine, its check of credentials, and its transports. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Log } from '@trestle/log';
import type { Registry } from 'prom-client';
import { UNPROTECTED_WARNING } from './access/denial.ts';
import { type CacheSettings, createCache } from './cache/create-cache.ts';
import { invalidateByEvents } from './cache/events/invalidate-by-events.ts';
import type { ResponseCache } from './cache/response-cache.ts';
import { type Config, type GraphConfig, silenceVendorTelemetry } from './config.ts';
import { createApiKeys, createVerifier } from './credentials.ts';
import { createMcp } from './create-mcp.ts';
import { createDocuments } from './documents/documents.ts';
import { RemoteDocuments } from './documents/remote-documents.ts';
import { createUnknownRecord } from './documents/unknown-documents.ts';
import type { Engine } from './engines/engine.ts';
import { SharedExecutions } from './engines/shared-executions.ts';
import { createTrestleEngine } from './engines/trestle.ts';
import type { Hooks } from './extensions/compile-hooks.ts';
import { loadHooks } from './extensions/load-extensions.ts';
import { hasClaims } from './headers/header-rules.ts';
import { registerSupergraphs } from './observability/supergraph-metrics.ts';
import { createPipeline } from './pipeline.ts';
import type { Measure } from './request/context.ts';
import type { RuntimeSettings } from './engines/engine.ts';
import { toRuntimeSettings } from './runtime-settings.ts';
import { createHiveDocuments } from './sources/hive-documents.ts';
import { createSourceMetrics } from './sources/source-metrics.ts';
import { startSupergraph } from './sources/start-supergraph.ts';
import { type SubgraphTls, createSubgraphTls } from './tls/subgraph-tls.ts';
import type { Endpoint } from './transports/http/admitted-request.ts';
import { createInvalidationEndpoint } from './transports/http/invalidation-endpoint.ts';
import { createUpstreams } from './upstream/upstream.ts';
import { createUsage, findUsageFormat } from './usage/create-usage.ts';
import { watchTrustedDocuments } from './watch-documents.ts';
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
  const switches = createSwitches(config, log);
  const hooks = await loadHooks(config.extensions, { measure, log, metrics });
  const cache = await createCache(toCacheSettings(config), { graph: place.name, log, metrics });
  const usage = await createUsage(config, { log, metrics });
  const tls = createSubgraphTls(config.subgraphTls, log);
  const createEngine = prepareEngine(config, { log, metrics, measure, hooks, cache, tls, ...shared });
  const { supergraph: settings } = config;
  const supergraph = await startSupergraph({ settings, createEngine, log, metrics: createSourceMetrics(metrics) });
  const { engine } = supergraph;
  registerSupergraphs(metrics, () => engine.served);
  const verification = await createVerifier(config, { log, metrics });
  const apiKeys = createApiKeys(config, { verifier: verification.verifier, metrics });
  const trusted = watchTrustedDocuments({ file: config.env['TRUSTED_DOCUMENTS_FILE'], initial: config.TRUSTED_DOCUMENTS_FILE, log });
  const recordUnknown = config.TRUSTED_DOCUMENTS_LOG_UNKNOWN ? createUnknownRecord({ log, metrics }) : undefined;
  const { TRUSTED_DOCUMENTS_ONLY: isTrustedOnly, TRUSTED_DOCUMENTS_REQUIRE_ID: needsId, AUTOMATIC_PERSISTED_QUERIES: keepsTexts } = config;
  const remote = createHiveLookups(config, { log, metrics });
  const documents = createDocuments({ readTrusted: trusted.read, remote, isTrustedOnly, keepsTexts, needsId, recordUnknown });
  const run = createPipeline({ documents, engine, signInFields: config.signInFields, hooks, measure, log, usage });
  const endpoints = [
    ...createInvalidation(config, cache),
    ...(await createMcp({ place, config }, { engine, readTrusted: trusted.read, edge: shared.edge, log })),
  ];
  const transports = createTransports(
    { place, config },
    { ...shared, ...switches, endpoints, run, hooks, readTrusted: trusted.read, verifier: verification.verifier, apiKeys, metrics, log },
  );
  const stopEvents = invalidateByEvents(config, { cache, engine, log, metrics });
  const { reconfigure } = engine;
  return {
    place,
    handle: transports.handle,
    upgrade: transports.upgrade,
    apply: reconfigure && createApply(reconfigure, tls, switches.set),
    readServed: () => engine.served,
    stopWatching: () => {
      supergraph.stop();
      tls.stop();
      verification.stop();
      trusted.stop();
      stopEvents();
    },
    drain: transports.drain,
    stop: async () => {
      await Promise.all([engine.stop(), apiKeys?.close(), usage?.stop()]);
      cache?.close();
      remote?.stop();
      await hooks.stop();
    },
  };
}

/** The settings that transports look at for each request, and a warning that is due whenever nothing is protected. */
interface Switches {
  readonly hasSubscriptions: () => boolean;
  readonly set: (settings: Pick<RuntimeSettings, 'limits'>) => void;
}

function createSwitches(config: Config, log: Log): Switches {
  let { hasSubscriptions } = config.limits;
  const set: Switches['set'] = ({ limits }) => {
    ({ hasSubscriptions } = limits);
    if (limits.deniedFields === 'unprotected') log.warn(UNPROTECTED_WARNING);
  };
  set(config);
  return { hasSubscriptions: () => hasSubscriptions, set };
}

/** Returns the function that applies a changed configuration as a whole, or rejects and changes nothing. */
function createApply(
  reconfigure: NonNullable<Engine['reconfigure']>,
  tls: SubgraphTls,
  onSwitch: (settings: RuntimeSettings) => void,
): NonNullable<Graph['apply']> {
  return async (next) => {
    const settings = toRuntimeSettings(next);
    const certificates = tls.prepare(next.subgraphTls);
    try {
      await reconfigure(settings, () => {
        certificates.use();
        onSwitch(settings);
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

/** A document has the bound of one that a client sends. */
function createHiveLookups(config: Config, observers: Observers): RemoteDocuments | undefined {
  const { HIVE_DOCUMENTS_ENDPOINT: endpoints, HIVE_DOCUMENTS_KEY: key = '' } = config;
  if (endpoints.length === 0) return undefined;
  const { HIVE_DOCUMENTS_TIMEOUT_MS: timeoutMs, MAX_BODY_BYTES: maxBytes } = config;
  return new RemoteDocuments({ server: createHiveDocuments({ endpoints, key, timeoutMs, maxBytes }), ...observers });
}

/** With rules that take values from tokens, callers share no results, because these values differ by caller. */
function toCacheSettings({ responseCache, headerRules }: Config): CacheSettings {
  return hasClaims(headerRules) ? { ...responseCache, sharing: 'anonymous' } : responseCache;
}

interface EngineParts extends Pick<SharedParts, 'admission' | 'startPlanner' | 'callbacks'> {
  readonly measure: Measure;
  readonly hooks: Hooks;
  readonly cache: ResponseCache | undefined;
  readonly tls: SubgraphTls;
}

/** Returns what creates the engine for a supergraph. Loads only the engine that is used: that of Apollo is larger than everything else. */
function prepareEngine(
  config: Config,
  { log, metrics, measure, hooks, cache, tls, admission, startPlanner, callbacks }: Observers & EngineParts,
): (supergraphSdl: string) => Promise<Engine> {
  const settings = toRuntimeSettings(config);
  const shared = config.OPERATION_DEDUPLICATION ? new SharedExecutions(metrics) : undefined;
  const upstreams = createUpstreams({
    client: config.UPSTREAM_CLIENT,
    hasCompression: config.UPSTREAM_COMPRESSION,
    isSharing: config.UPSTREAM_DEDUPLICATION,
    onChange: () => shared?.forget(),
    ...settings.addresses,
    callbacks,
    pingIntervalMs: config.PING_INTERVAL_MS,
    forwardHeaders: config.forwardHeaders,
    forwardResponseHeaders: config.forwardResponseHeaders,
    headerRules: config.headerRules,
    tls: (name) => tls.of(name),
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
        shared,
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
