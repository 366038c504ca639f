/** The gateway's process; also the command \`trestle-gateway\`, which serves any Federation 2 supergraph. */
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { watchRevocations } from '@trestle/identity/revocation-watch';
import { createRevocations } from '@trestle/identity/revocations';
import { createTokenVerifier } from '@trestle/identity/tokens';
import { createLog } from '@trestle/log';
import { runProcess, startService } from '@trestle/service';
import { createAdmission } from '@trestle/service/admission';
import { createProbes } from '@trestle/service/probes';
import { toServiceOptions } from '@trestle/service/settings';
import { createTracing } from '@trestle/telemetry';
import { readNotice } from './command-line.ts';
import { readConfig, silenceVendorTelemetry } from './config.ts';
import { createDocuments } from './documents/documents.ts';
import { createHttpDoor } from './transports/http/http-transport.ts';
import { toRefusalAnswer } from './transports/http/refusal.ts';
import { createVisitBook } from './transports/http/visit.ts';
import type { Engine } from './engines/engine.ts';
import { createSubgraphErrors } from './errors/format-error.ts';
import { type TrestleEngine, createTrestleEngine } from './engines/trestle.ts';
import { createLiveMetrics } from './observability/subscription-metrics.ts';
import { SendBuffers } from './transports/delivery/send-buffers.ts';
import { createSocketDoor } from './transports/websocket/websocket-transport.ts';
import { createStreamDoor } from './transports/delivery/stream-transport.ts';
import { createGatewayMetrics } from './observability/request-metrics.ts';
import { watchSupergraph } from './supergraph/watch.ts';
import { createUpstreams } from './upstream/upstream.ts';

/** How long everything else may take that is closed once requests are answered. */
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
/** Subscribers are sent away in the last part of the time in which the process still serves. */
const subscribersStayMs = Math.max(0, delayMs - subscriptionDrainMs);

await runProcess(log, start, { stopLimitMs: drainMs + STOP_MS, delayMs });

async function start() {
  const supergraphSdl = await readFile(config.supergraphFile, 'utf8');
  // The process listens only once a supergraph is loaded, so that ready is all it can be.
  const probes = createProbes({ isReady: () => true, tell: () => ({ supergraph: engine.hash }) });
  const upstreams = createUpstreams({
    urls: config.subgraphUrls,
    liveUrls: config.subgraphLiveUrls,
    timeoutMs: config.SUBGRAPH_TIMEOUT_MS,
    pingIntervalMs: config.PING_INTERVAL_MS,
    metrics: probes.metrics,
  });
  const engine = await createEngine({ supergraphSdl, upstreams });
  const supergraph = watchSupergraph(config.supergraphFile, {
    initial: supergraphSdl,
    take: async (sdl) => {
      await engine.swap(sdl);
      log.info('serving a new supergraph', { hash: engine.hash });
    },
    refuse: (error) => {
      log.error('refused a new supergraph and serve on with the old one', { error });
    },
  });
  const { TOKEN_PUBLIC_KEY_FILE: publicKeyPem, OTEL_EXPORTER_OTLP_ENDPOINT: collector, REVOCATIONS_URL: revocationsUrl } = config;
  const tracing = await createTracing({ service: 'gateway', endpoint: collector });
  const metrics = createGatewayMetrics(probes.metrics, engine);
  const buffers = new SendBuffers(config.sendBuffers);
  const liveMetrics = createLiveMetrics(probes.metrics, { counts: (engine as Partial<TrestleEngine>).hub?.counts, buffers });
  const revocations = createRevocations();
  const revocationWatch = revocationsUrl && watchRevocations({ url: revocationsUrl, revocations, log, metrics: probes.metrics });
  // Whoever was sent away before is not let in by a start.
  if (revocationWatch) await revocationWatch.settled;
  else if (publicKeyPem !== undefined) log.warn('REVOCATIONS_URL is not set: revoked tokens are taken until they end');
  const shared = {
    engine,
    documents: createDocuments({ trusted: config.TRUSTED_DOCUMENTS_FILE, isTrustedOnly: config.TRUSTED_DOCUMENTS_ONLY }),
    verifier: publicKeyPem === undefined ? undefined : createTokenVerifier({ publicKeyPem, revocations }),
    forwardHeaders: config.forwardHeaders,
    log,
    tracing,
  };
  const book = createVisitBook({ metrics, log });
  const { queue, maxOperations, maxSockets } = config.sockets;
  const streams = createStreamDoor({
    verifier: shared.verifier,
    queue,
    buffers,
    maxOperations,
    maxStreams: maxSockets,
    metrics: liveMetrics,
    book,
  });
  const admission = createAdmission();
  const sockets = createSocketDoor({ ...shared, admission, limits: config.sockets, buffers, requests: metrics, metrics: liveMetrics });
  const handle = createHttpDoor({
    ...shared,
    signInFields: config.signInFields,
    maxBatch: config.MAX_BATCH,
    hasPages: config.GRAPHIQL,
    metrics,
    book,
    streams,
  });
  const service = await startService({
    log,
    port: config.port,
    host: config.HOST,
    tls: config.tls,
    probes,
    handle,
    upgrade: sockets.upgrade,
    admission,
    toRefusalAnswer,
    drainMs: drainMs - (delayMs - subscribersStayMs),
    ...toServiceOptions(config),
  });
  return async () => {
    supergraph.stop();
    if (revocationWatch) revocationWatch.stop();
    const stopped = service.stop();
    await delay(subscribersStayMs);
    await Promise.all([stopped, sockets.drain(subscriptionDrainMs, drainMs), streams.drain(subscriptionDrainMs)]);
    await engine.stop();
    await tracing.stop();
  };
}

/** Only the engine that is used is loaded: Apollo's alone is larger than all the rest. */
async function createEngine({
  supergraphSdl,
  upstreams,
}: {
  supergraphSdl: string;
  upstreams: ReturnType<typeof createUpstreams>;
}): Promise<Engine> {
  const subgraphErrors = createSubgraphErrors(config.subgraphErrors, config.subgraphErrorsByName);
  const options = { supergraphSdl, upstreams, limits: config.limits, log, subgraphErrors };
  const { labels, subscriptions } = config;
  if (config.GATEWAY_ENGINE === 'trestle') return createTrestleEngine({ ...options, labels, subscriptions });
  silenceVendorTelemetry();
  const { createApolloEngine } = await import('./engines/apollo.ts');
  return createApolloEngine(options);
}
