/** The process of the gateway; also the command `trestle-gateway`, which serves any Federation 2 supergraph. */
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { watchRevocations } from '@trestle/identity/revocation-watch';
import { createRevocations } from '@trestle/identity/revocations';
import { type TokenVerifier, createTokenVerifier } from '@trestle/identity/tokens';
import { createLog } from '@trestle/log';
import { runProcess, startService } from '@trestle/service';
import { type Admission, createAdmission } from '@trestle/service/admission';
import { createProbes } from '@trestle/service/probes';
import { toServiceOptions } from '@trestle/service/settings';
import { type Tracing, createTracing } from '@trestle/telemetry';
import type { Registry } from 'prom-client';
import { readNotice } from './command-line.ts';
import { readConfig, silenceVendorTelemetry } from './config.ts';
import { createDocuments } from './documents/documents.ts';
import type { Engine } from './engines/engine.ts';
import { createTrestleEngine } from './engines/trestle.ts';
import { createSubgraphErrors } from './errors/format-error.ts';
import { createRequestMetrics } from './observability/request-metrics.ts';
import { createTransportMetrics } from './observability/subscription-metrics.ts';
import { createPipeline } from './pipeline.ts';
import type { RunOperation } from './request/operation.ts';
import { watchSupergraph } from './supergraph/watch.ts';
import { SendBuffers } from './transports/delivery/send-buffers.ts';
import { StreamedResponses } from './transports/delivery/streamed-responses.ts';
import { createHttpTransport } from './transports/http/http-transport.ts';
import { toRefusalAnswer } from './transports/http/refusal.ts';
import { ReservedStreams } from './transports/sse/reserved-streams.ts';
import { WebSocketTransport } from './transports/websocket/websocket-transport.ts';
import { createUpstreams } from './upstream/upstream.ts';

/** How long the engine and the exporters may take to stop once every request has ended. */
const STOP_MS = 5000;

const notice = readNotice(process.argv.slice(2));
if (notice !== undefined) {
  process.stdout.write(notice);
  process.exit(0);
}
const config = readConfig();
const log = createLog({ service: 'gateway', level: config.LOG_LEVEL });
const { SUBSCRIPTION_DRAIN_MS: subscriptionDrainMs, REQUEST_DRAIN_MS: requestDrainMs, DRAIN_DELAY_MS: delayMs } = config;
const drainMs = subscriptionDrainMs + requestDrainMs;
/** Subscriptions end in the last part of the time in which the process still serves. */
const subscriptionDelayMs = Math.max(0, delayMs - subscriptionDrainMs);

await runProcess(log, start, { stopLimitMs: drainMs + STOP_MS, delayMs });

async function start() {
  const supergraphSdl = await readFile(config.supergraphFile, 'utf8');
  // The process listens once a supergraph is loaded, so it is always ready.
  const probes = createProbes({ isReady: () => true, tell: () => ({ supergraph: engine.hash }) });
  const engine = await createEngine(supergraphSdl, probes.metrics);
  const supergraph = watchSupergraph(config.supergraphFile, {
    initial: supergraphSdl,
    load: async (sdl) => {
      await engine.swap(sdl);
      log.info('serving a new supergraph', { hash: engine.hash });
    },
    refuse: (error) => {
      log.error('refused a new supergraph; still serving the old one', { error });
    },
  });
  const tracing = await createTracing({ service: 'gateway', endpoint: config.OTEL_EXPORTER_OTLP_ENDPOINT });
  const { verifier, revocationWatch } = await createVerifier(probes.metrics);
  const documents = createDocuments({ trusted: config.TRUSTED_DOCUMENTS_FILE, isTrustedOnly: config.TRUSTED_DOCUMENTS_ONLY });
  const run = createPipeline({ documents, engine, signInFields: config.signInFields });
  const admission = createAdmission();
  const transports = createTransports({ run, verifier, tracing, admission, registry: probes.metrics });
  const service = await startService({
    log,
    port: config.port,
    host: config.HOST,
    tls: config.tls,
    probes,
    handle: transports.handle,
    upgrade: transports.upgrade,
    admission,
    toRefusalAnswer,
    drainMs: drainMs - (delayMs - subscriptionDelayMs),
    ...toServiceOptions(config),
  });
  return async () => {
    supergraph.stop();
    revocationWatch?.stop();
    const stopped = service.stop();
    await delay(subscriptionDelayMs);
    await Promise.all([stopped, transports.drain()]);
    await engine.stop();
    await tracing.stop();
  };
}

/** Creates the check of credentials; undefined for a gateway that leaves credentials to its subgraphs. */
async function createVerifier(metrics: Registry) {
  const { TOKEN_PUBLIC_KEY_FILE: publicKeyPem, REVOCATIONS_URL: url } = config;
  const revocations = createRevocations();
  const revocationWatch = url === undefined ? undefined : watchRevocations({ url, revocations, log, metrics });
  // A token that was revoked before must not be accepted after a start.
  if (revocationWatch) await revocationWatch.settled;
  else if (publicKeyPem !== undefined) log.warn('REVOCATIONS_URL is not set: revoked tokens are accepted until they expire');
  return { verifier: publicKeyPem === undefined ? undefined : createTokenVerifier({ publicKeyPem, revocations }), revocationWatch };
}

interface TransportDependencies {
  readonly run: RunOperation;
  readonly verifier: TokenVerifier | undefined;
  readonly tracing: Tracing;
  readonly admission: Admission;
  readonly registry: Registry;
}

function createTransports({ run, verifier, tracing, admission, registry }: TransportDependencies) {
  const { maxSockets: maxStreams, maxOperations, queue: limits } = config.sockets;
  const { forwardHeaders } = config;
  const requests = createRequestMetrics(registry);
  const buffers = new SendBuffers(config.sendBuffers);
  const metrics = createTransportMetrics(registry, buffers);
  const responses = new StreamedResponses({ verifier, limits, buffers, maxStreams, metrics });
  const reserved = new ReservedStreams({ responses, verifier, limits, buffers, maxOperations, metrics });
  const sockets = new WebSocketTransport({
    run,
    verifier,
    forwardHeaders,
    limits: config.sockets,
    buffers,
    log,
    requests,
    metrics,
    tracing,
    admission,
  });
  const handle = createHttpTransport({
    run,
    verifier,
    forwardHeaders,
    maxBatch: config.MAX_BATCH,
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

/** Loads only the engine that is used: that of Apollo is larger than everything else. */
async function createEngine(supergraphSdl: string, metrics: Registry): Promise<Engine> {
  const { subgraphUrls: urls, subgraphSubscriptionUrls: subscriptionUrls, labels, subscriptions, limits } = config;
  const { SUBGRAPH_TIMEOUT_MS: timeoutMs, PING_INTERVAL_MS: pingIntervalMs } = config;
  const upstreams = createUpstreams({ urls, subscriptionUrls, timeoutMs, pingIntervalMs, metrics });
  const subgraphErrors = createSubgraphErrors(config.subgraphErrors, config.subgraphErrorsByName);
  const options = { supergraphSdl, upstreams, limits, log, subgraphErrors };
  if (config.GATEWAY_ENGINE === 'trestle') return createTrestleEngine({ ...options, labels, subscriptions, metrics });
  silenceVendorTelemetry();
  const { createApolloEngine } = await import('./engines/apollo.ts');
  return createApolloEngine(options);
}
