/** The bridge's process: the public front door. */
import { createTokenVerifier } from '@trestle/identity/tokens';
import { createLog } from '@trestle/log';
import { readApiSdl } from '@trestle/schema/sdl';
import { runProcess, startService } from '@trestle/service';
import { createProbes } from '@trestle/service/probes';
import express from 'express';
import { buildSchema } from 'graphql';
import { Histogram } from 'prom-client';
import { readConfig } from './config.ts';
import { createGatewayClient } from './gateway-client.ts';
import { compileRows } from './pipeline/compile.ts';
import { createPipeline } from './pipeline/pipeline.ts';
import { rows } from './routes/table.ts';

const config = readConfig();
const log = createLog({ service: 'rest-bridge', level: config.LOG_LEVEL });

await runProcess(log, async () => {
  const gateway = createGatewayClient({ url: config.GATEWAY_URL, timeoutMs: config.GATEWAY_TIMEOUT_MS });
  const probes = createProbes({ isReady: () => gateway.isReady() });
  const durations = new Histogram({
    name: 'trestle_rest_request_duration_seconds',
    help: 'Time from the first byte of a request to its answer.',
    labelNames: ['route', 'method', 'status'],
    registers: [probes.metrics],
  });
  const pipeline = createPipeline({
    table: compileRows(rows, buildSchema(readApiSdl())),
    verifier: createTokenVerifier({ publicKeyPem: config.TOKEN_PUBLIC_KEY_FILE }),
    gateway,
    log,
    observe: ({ route, method, status, seconds }) => {
      durations.observe({ route, method, status: String(status) }, seconds);
    },
  });
  // One mount: the pipeline matches for itself, so that a request passes no chain of middlewares.
  const app = express().disable('x-powered-by').disable('etag').use(pipeline);
  const service = await startService({ log, port: config.REST_PORT, host: config.HOST, probes, handle: app });
  return async () => {
    await service.stop();
    await gateway.close();
  };
});
