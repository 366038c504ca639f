/** The bridge's process: the public front door. */
import { createTokenVerifier } from '@trestle/identity/tokens';
import { createLog } from '@trestle/log';
import { readApiSdl } from '@trestle/schema/sdl';
import { runProcess, startService } from '@trestle/service';
import { createProbes } from '@trestle/service/probes';
import { toServiceOptions } from '@trestle/service/settings';
import { createTracing } from '@trestle/telemetry';
import express from 'express';
import { buildSchema } from 'graphql';
import { Histogram } from 'prom-client';
import { readConfig } from './config.ts';
import { createGatewayClient } from './gateway-client.ts';
import { createAddresses } from './http/addresses.ts';
import { watchMaintenance } from './http/maintenance.ts';
import { createLoadGuard } from './http/overload.ts';
import { compileRows } from './pipeline/compile.ts';
import { type PipelineDependencies, createPipeline } from './pipeline/pipeline.ts';
import { toRefusalAnswer } from './pipeline/render-error.ts';
import { withDocuments } from './routes/documents.ts';
import { rows } from './routes/table.ts';
import { createVersions } from './versions/versions.ts';

const config = readConfig();
const log = createLog({ service: 'rest-bridge', level: config.LOG_LEVEL });

await runProcess(log, start, { delayMs: config.DRAIN_DELAY_MS });

async function start() {
  const gateway = createGatewayClient({
    url: config.GATEWAY_URL,
    timeoutMs: config.GATEWAY_TIMEOUT_MS,
    certificate: config.GATEWAY_CERT_FILE,
  });
  const probes = createProbes({ isReady: () => gateway.isReady() });
  const durations = new Histogram({
    name: 'trestle_rest_request_duration_seconds',
    help: 'Time from the first byte of a request to its answer.',
    labelNames: ['route', 'method', 'status'],
    registers: [probes.metrics],
  });
  const tracing = await createTracing({ service: 'rest-bridge', endpoint: config.OTEL_EXPORTER_OTLP_ENDPOINT });
  const schema = buildSchema(readApiSdl());
  const addresses = createAddresses({
    publicUrl: config.PUBLIC_URL,
    publicGatewayUrl: config.PUBLIC_GATEWAY_URL,
    gatewayUrl: config.GATEWAY_URL,
  });
  const allRows = withDocuments(rows, { schema, addresses });
  const versions = createVersions(config.API_VERSIONS_FILE);
  const load = createLoadGuard({ maxInFlight: config.MAX_IN_FLIGHT, maxEventLoopDelayMs: config.MAX_EVENT_LOOP_DELAY_MS });
  const maintenance = await watchMaintenance(config.MAINTENANCE_FILE);
  const pipeline = createPipeline({
    versions,
    tables: new Map(versions.known.map((version) => [version, compileRows(allRows, { schema, version })])),
    verifier: createTokenVerifier({ publicKeyPem: config.TOKEN_PUBLIC_KEY_FILE }),
    gateway,
    load,
    maintenance,
    tracing,
    log,
    observe: createObserver(durations),
  });
  // One mount: the pipeline matches for itself, so that a request passes no chain of middlewares.
  // A router alone, since an application would give every request and response another prototype, which costs more than the rest.
  const router = express.Router().use(pipeline);
  const service = await startService({
    log,
    port: config.REST_PORT,
    host: config.HOST,
    tls: config.tls,
    probes,
    handle: (request, response) => {
      // The pipeline answers its own errors; one that even its renderer could not answer ends the connection.
      const giveUp = (error: unknown) => {
        log.error('could not answer', { error });
        response.destroy();
      };
      router(request as express.Request, response as express.Response, (error: unknown) => {
        // The router gives back a target that it can't read as a URL, such as `http://[`; the pipeline answers it.
        if (error === undefined) pipeline(request, response).catch(giveUp);
        else giveUp(error);
      });
    },
    ...toServiceOptions(config),
    toRefusalAnswer,
  });
  return async () => {
    await service.stop();
    load.close();
    maintenance.close();
    await gateway.close();
    await tracing.stop();
  };
}

/** Finds the histogram's series by a lookup, since prom-client hashes its labels each time. */
function createObserver(durations: Histogram<'route' | 'method' | 'status'>): PipelineDependencies['observe'] {
  const series = new Map<string, { observe(seconds: number): void }>();
  return ({ route, method, status, seconds }) => {
    const key = `${route} ${method} ${String(status)}`;
    let one = series.get(key);
    if (!one) series.set(key, (one = durations.labels({ route, method, status: String(status) })));
    one.observe(seconds);
  };
}
