/** The process of the gateway; also the command `trestle-gateway`, which serves any Federation 2 supergraph. */
import { setTimeout as delay } from 'node:timers/promises';
import { type ApiKeyExchange, createApiKeyExchange } from '@trestle/identity/api-key-exchange';
import { watchRevocations } from '@trestle/identity/revocation-watch';
import { createRevocations } from '@trestle/identity/revocations';
import type { TokenVerifier } from '@trestle/identity/tokens';
import { hasTokenKeys, startVerification } from '@trestle/identity/verification';
import { NO_RATE_LIMITS, type RateLimits, createRateLimits } from '@trestle/limits/settings';
import { createLog } from '@trestle/log';
import { runProcess, startService } from '@trestle/service';
import { type Admission, createAdmission } from '@trestle/service/admission';
import type { Edge } from '@trestle/service/edge';
import { toEdge } from '@trestle/service/edge-settings';
import { createProbes } from '@trestle/service/probes';
import { toServiceOptions } from '@trestle/service/settings';
import { type Tracing, createTracing } from '@trestle/telemetry';
import type { Registry } from 'prom-client';
import { createAccessOf } from './access/callers.ts';
import { NO_POLICIES } from './access/policies.ts';
import { readCommandLine } from './command-line.ts';
import { check } from './commands/check.ts';
import { type Config, readConfig, silenceVendorTelemetry } from './config.ts';
import { createSettingTree } from './configuration/setting-tree.ts';
import { createDocuments } from './documents/documents.ts';
import type { Engine, RuntimeSettings } from './engines/engine.ts';
import { createTrestleEngine } from './engines/trestle.ts';
import { createSubgraphErrors } from './errors/format-error.ts';
import { findPropagated } from './headers/header-rules.ts';
import { createRequestMetrics } from './observability/request-metrics.ts';
import { createTransportMetrics } from './observability/subscription-metrics.ts';
import { toPackageUrl } from './package-files.ts';
import { createPipeline } from './pipeline.ts';
import { createSourceMetrics } from './sources/source-metrics.ts';
import { startSupergraph } from './sources/start-supergraph.ts';
import { watchConfiguration } from './watch-configuration.ts';
import type { RunOperation } from './request/operation.ts';
import { SendBuffers } from './transports/delivery/send-buffers.ts';
import { StreamedResponses } from './transports/delivery/streamed-responses.ts';
import { createHttpTransport } from './transports/http/http-transport.ts';
import { toRefusalResponse } from './transports/http/refusal.ts';
import { ReservedStreams } from './transports/sse/reserved-streams.ts';
import { WebSocketTransport } from './transports/websocket/websocket-transport.ts';
import { createUpstreams } from './upstream/upstream.ts';

/** How long the engine and the exporters may take to stop once every request has ended. */
const STOP_MS = 5000;

/** The methods of `/graphql`, for preflight requests. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS'];

const { command, notice, settings: flags } = readCommandLine(process.argv.slice(2));
if (notice !== undefined) {
  process.stdout.write(notice);
  process.exit(0);
}
if (command !== 'start') process.exit(await runCommand());
const config = await readConfig();
const log = createLog({ service: 'gateway', level: config.LOG_LEVEL });
const { SUBSCRIPTION_DRAIN_MS: subscriptionDrainMs, REQUEST_DRAIN_MS: requestDrainMs, DRAIN_DELAY_MS: delayMs } = config;
/** The request headers that any subgraph may get. They are part of a caller's identity, because they may change results. */
const collectedHeaders = [...new Set([...config.forwardHeaders, ...findPropagated(config.headerRules)])];
const drainMs = subscriptionDrainMs + requestDrainMs;
/** Subscriptions end in the last part of the time in which the process still serves. */
const subscriptionDelayMs = Math.max(0, delayMs - subscriptionDrainMs);

await runProcess(log, start, { stopLimitMs: drainMs + STOP_MS, delayMs });

async function start() {
  // The process listens once a supergraph is loaded, so it is always ready.
  const probes = createProbes({ isReady: () => true, readDetails: () => ({ supergraph: engine.hash }) });
  const createEngine = prepareEngine(probes.metrics);
  const supergraph = await startSupergraph({
    settings: config.supergraph,
    createEngine,
    log,
    metrics: createSourceMetrics(probes.metrics),
  });
  const { engine } = supergraph;
  const configuration = watchConfiguration({
    config,
    read: () => readConfig(),
    log,
    apply: engine.reconfigure && toApply(engine.reconfigure),
  });
  const tracing = await createTracing({ service: 'gateway', endpoint: config.OTEL_EXPORTER_OTLP_ENDPOINT });
  const verification = await createVerifier(probes.metrics);
  const { verifier } = verification;
  const apiKeys = createApiKeys(verifier, probes.metrics);
  const documents = createDocuments({ trusted: config.TRUSTED_DOCUMENTS_FILE, isTrustedOnly: config.TRUSTED_DOCUMENTS_ONLY });
  const run = createPipeline({ documents, engine, signInFields: config.signInFields });
  const admission = createAdmission();
  const rateLimits = config.hasRateLimits ? await createRateLimits(config, log) : NO_RATE_LIMITS;
  const edge = toEdge(config, { publicUrls: [config.PUBLIC_URL], methods: METHODS, requestHeaders: collectedHeaders });
  const transports = createTransports({ run, verifier, apiKeys, tracing, admission, rateLimits, edge, registry: probes.metrics });
  const service = await startService({
    log,
    port: config.port,
    host: config.HOST,
    tls: config.tls,
    probes,
    handle: transports.handle,
    upgrade: transports.upgrade,
    admission,
    toRefusalResponse,
    drainMs: drainMs - (delayMs - subscriptionDelayMs),
    ...toServiceOptions(config),
    edge,
    rateLimits,
  });
  return async () => {
    supergraph.stop();
    configuration.stop();
    verification.stop();
    const stopped = service.stop();
    await delay(subscriptionDelayMs);
    await Promise.all([stopped, transports.drain()]);
    rateLimits.close();
    await Promise.all([engine.stop(), apiKeys?.close()]);
    await tracing.stop();
  };
}

/** Runs a command that ends by itself, and returns its exit code. */
async function runCommand(): Promise<number> {
  const print = (line: string) => process.stdout.write(`${line}\n`);
  const printFault = (line: string) => process.stderr.write(`${line}\n`);
  if (command === 'check') return check({ readConfig: () => readConfig(), print, printFault });
  const { init } = await import('./commands/init.ts');
  const file = flags['TRESTLE_CONFIG'] ?? 'trestle.yaml';
  return init({ file, tree: createSettingTree(), schema: toPackageUrl('trestle.schema.json'), print, printFault });
}

/** Returns what applies a changed configuration. */
function toApply(reconfigure: NonNullable<Engine['reconfigure']>): (next: Config) => Promise<void> {
  return (next) => reconfigure(toRuntimeSettings(next));
}

function toRuntimeSettings({ limits, labels, POLICIES_FILE: policies = NO_POLICIES, ...next }: Config): RuntimeSettings {
  return {
    limits,
    labels,
    accessOf: createAccessOf(policies),
    subgraphErrors: createSubgraphErrors(next.subgraphErrors, next.subgraphErrorsByName),
    addresses: { urls: next.subgraphUrls, subscriptionUrls: next.subgraphSubscriptionUrls },
  };
}

/** Creates the check of credentials; undefined for a gateway that leaves credentials to its subgraphs. */
async function createVerifier(metrics: Registry) {
  const { REVOCATIONS_URL: url } = config;
  const revocations = createRevocations();
  const revocationWatch = url === undefined ? undefined : watchRevocations({ url, revocations, log, metrics });
  const verification = hasTokenKeys(config) ? await startVerification(config, { log, revocations }) : undefined;
  // A token that was revoked before must not be accepted after a start.
  if (revocationWatch) await revocationWatch.settled;
  else if (verification) log.warn('REVOCATIONS_URL is not set: revoked tokens are accepted until they expire');
  return {
    verifier: verification?.verifier,
    stop() {
      verification?.stop();
      revocationWatch?.stop();
    },
  };
}

/** Creates the exchange of API keys; undefined for a gateway that accepts none. */
function createApiKeys(verifier: TokenVerifier | undefined, metrics: Registry): ApiKeyExchange | undefined {
  const { API_KEY_EXCHANGE_URL: url } = config;
  return verifier && url !== undefined ? createApiKeyExchange({ url, verifier, metrics }) : undefined;
}

interface TransportDependencies {
  readonly run: RunOperation;
  readonly verifier: TokenVerifier | undefined;
  readonly apiKeys: ApiKeyExchange | undefined;
  readonly tracing: Tracing;
  readonly admission: Admission;
  readonly rateLimits: RateLimits;
  readonly edge: Edge;
  readonly registry: Registry;
}

function createTransports({ run, verifier, apiKeys, tracing, admission, rateLimits, edge, registry }: TransportDependencies) {
  const { maxSockets: maxStreams, maxOperations, queue: limits } = config.sockets;
  const { forwardMutationHeaders } = config;
  const forwardHeaders = collectedHeaders;
  const requests = createRequestMetrics(registry);
  const buffers = new SendBuffers(config.sendBuffers);
  const metrics = createTransportMetrics(registry, buffers);
  const responses = new StreamedResponses({ verifier, limits, buffers, maxStreams, metrics });
  const reserved = new ReservedStreams({ responses, verifier, limits, buffers, maxOperations, metrics });
  const sockets = new WebSocketTransport({
    run,
    verifier,
    apiKeys,
    forwardHeaders,
    limits: config.sockets,
    buffers,
    log,
    requests,
    metrics,
    tracing,
    admission,
    rateLimits,
  });
  const handle = createHttpTransport({
    run,
    verifier,
    apiKeys,
    forwardHeaders,
    forwardMutationHeaders,
    rateLimits,
    isAllowedOrigin: edge.isAllowedOrigin,
    maxBatch: config.MAX_BATCH,
    maxUploadBytes: config.MAX_UPLOAD_BYTES,
    hasGraphiql: config.GRAPHIQL,
    responses,
    reserved,
    log,
    metrics: requests,
    tracing,
  });
  return {
    handle,
    upgrade: sockets.upgrade,
    drain: async () => {
      reserved.stop();
      await Promise.all([sockets.drain(subscriptionDrainMs, drainMs), responses.drain(subscriptionDrainMs)]);
    },
  };
}

/** Returns what creates the engine for a supergraph. Loads only the engine that is used: that of Apollo is larger than everything else. */
function prepareEngine(metrics: Registry): (supergraphSdl: string) => Promise<Engine> {
  const settings = toRuntimeSettings(config);
  const upstreams = createUpstreams({
    client: config.UPSTREAM_CLIENT,
    hasCompression: config.UPSTREAM_COMPRESSION,
    ...settings.addresses,
    timeoutMs: config.SUBGRAPH_TIMEOUT_MS,
    pingIntervalMs: config.PING_INTERVAL_MS,
    forwardHeaders: config.forwardHeaders,
    forwardResponseHeaders: config.forwardResponseHeaders,
    headerRules: config.headerRules,
    metrics,
  });
  return async (supergraphSdl) => {
    const options = { supergraphSdl, upstreams, log, ...settings };
    if (config.GATEWAY_ENGINE === 'trestle')
      return createTrestleEngine({ ...options, executor: config.EXECUTOR, subscriptions: config.subscriptions, metrics });
    silenceVendorTelemetry();
    const { createApolloEngine } = await import('./engines/apollo.ts');
    return createApolloEngine(options);
  };
}
