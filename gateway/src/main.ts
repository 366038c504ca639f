/** The gateway's process. */
import { readFile } from 'node:fs/promises';
import { createTokenVerifier } from '@trestle/identity/tokens';
import { createLog } from '@trestle/log';
import { runProcess, startService } from '@trestle/service';
import { createProbes } from '@trestle/service/probes';
import { Histogram } from 'prom-client';
import { createApolloEngine } from './apollo/engine.ts';
import { readConfig, silenceVendorTelemetry } from './config.ts';
import { createHttpDoor, toRefusalAnswer } from './http.ts';
import { watchSupergraph } from './supergraph/watch.ts';
import { createUpstreams } from './upstream/upstream.ts';

const config = readConfig();
const log = createLog({ service: 'gateway', level: config.LOG_LEVEL });

await runProcess(log, async () => {
  silenceVendorTelemetry();
  // The process listens only once a supergraph is loaded, so that ready is all it can be.
  const probes = createProbes({ isReady: () => true });
  const durations = new Histogram({
    name: 'trestle_graphql_request_duration_seconds',
    help: 'Time from the first byte of a request to its answer.',
    labelNames: ['status'],
    registers: [probes.metrics],
  });
  const upstreams = createUpstreams({ urls: config.subgraphUrls, timeoutMs: config.SUBGRAPH_TIMEOUT_MS, metrics: probes.metrics });
  const supergraphSdl = await readFile(config.SUPERGRAPH_FILE, 'utf8');
  const engine = await createApolloEngine({ supergraphSdl, upstreams, log });
  const supergraph = watchSupergraph(config.SUPERGRAPH_FILE, {
    initial: supergraphSdl,
    take: async (sdl) => {
      await engine.swap(sdl);
      log.info('serving a new supergraph');
    },
    refuse: (error) => {
      log.error('refused a new supergraph and serve on with the old one', { error });
    },
  });
  const handle = createHttpDoor({
    engine,
    verifier: createTokenVerifier({ publicKeyPem: config.TOKEN_PUBLIC_KEY_FILE }),
    log,
    observe: (status, seconds) => {
      durations.observe({ status: String(status) }, seconds);
    },
  });
  const service = await startService({ log, port: config.GATEWAY_PORT, host: config.HOST, probes, handle, toRefusalAnswer });
  return async () => {
    supergraph.stop();
    await service.stop();
    await engine.stop();
  };
});
