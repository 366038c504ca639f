/** The gateway's process; also the command \`trestle-gateway\`, which serves any Federation 2 supergraph. */
import { readFile } from 'node:fs/promises';
import { createTokenVerifier } from '@trestle/identity/tokens';
import { createLog } from '@trestle/log';
import { runProcess, startService } from '@trestle/service';
import { createProbes } from '@trestle/service/probes';
import { readConfig, silenceVendorTelemetry } from './config.ts';
import { createDocuments } from './documents/documents.ts';
import { createHttpDoor, toRefusalAnswer } from './door/http-door.ts';
import type { Engine } from './engine.ts';
import { createTrestleEngine } from './execute/engine.ts';
import { createGatewayMetrics } from './metrics.ts';
import { watchSupergraph } from './supergraph/watch.ts';
import { createUpstreams } from './upstream/upstream.ts';

/** Requests in hand may take so long once the process was told to stop: it is gone within 3 s. */
const DRAIN_MS = 2000;

const config = readConfig();
const log = createLog({ service: 'gateway', level: config.LOG_LEVEL });

await runProcess(log, async () => {
  const supergraphSdl = await readFile(config.supergraphFile, 'utf8');
  // The process listens only once a supergraph is loaded, so that ready is all it can be.
  const probes = createProbes({ isReady: () => true, tell: () => ({ supergraph: engine.hash }) });
  const upstreams = createUpstreams({ urls: config.subgraphUrls, timeoutMs: config.SUBGRAPH_TIMEOUT_MS, metrics: probes.metrics });
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
  const { TOKEN_PUBLIC_KEY_FILE: publicKeyPem, OTEL_EXPORTER_OTLP_ENDPOINT: collector } = config;
  const tracing = collector === undefined ? undefined : await (await import('./tracing.ts')).createTracing(collector);
  const handle = createHttpDoor({
    engine,
    documents: createDocuments({ trusted: config.TRUSTED_DOCUMENTS_FILE, isTrustedOnly: config.TRUSTED_DOCUMENTS_ONLY }),
    verifier: publicKeyPem === undefined ? undefined : createTokenVerifier({ publicKeyPem }),
    forwardHeaders: config.forwardHeaders,
    maxBatch: config.MAX_BATCH,
    hasPages: config.GRAPHIQL,
    log,
    metrics: createGatewayMetrics(probes.metrics, engine),
    tracing,
  });
  const { port, HOST: host, tls } = config;
  const service = await startService({ log, port, host, tls, probes, handle, toRefusalAnswer, drainMs: DRAIN_MS });
  return async () => {
    supergraph.stop();
    await service.stop();
    await engine.stop();
    await tracing?.stop();
  };
});

/** Only the engine that is used is loaded: Apollo's alone is larger than all the rest. */
async function createEngine({
  supergraphSdl,
  upstreams,
}: {
  supergraphSdl: string;
  upstreams: ReturnType<typeof createUpstreams>;
}): Promise<Engine> {
  const options = { supergraphSdl, upstreams, limits: config.limits, log };
  if (config.GATEWAY_ENGINE === 'trestle') return createTrestleEngine({ ...options, labels: config.labels });
  silenceVendorTelemetry();
  const { createApolloEngine } = await import('./apollo/engine.ts');
  return createApolloEngine(options);
}
