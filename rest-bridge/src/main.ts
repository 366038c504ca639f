/** The process of the REST bridge: wires its parts together and serves HTTP. */
import { createApiKeyExchange } from '@trestle/identity/credentials/api-key-exchange';
import { watchRevocations } from '@trestle/identity/revocations/revocation-watch';
import { createRevocations } from '@trestle/identity/revocations/revocations';
import { toRevocationSeconds } from '@trestle/identity/verification/trusted-issuers';
import { type Verification, startVerification } from '@trestle/identity/verification/verification';
import { createRateLimits } from '@trestle/limits/settings';
import { createLog } from '@trestle/log';
import { readApiSdl } from '@trestle/schema/sdl';
import { type ServiceOptions, runProcess, startService } from '@trestle/service';
import { toEdge } from '@trestle/service/edge/edge-settings';
import { type HistogramSeries, createHistogram } from '@trestle/service/probes/histogram';
import { createProbes } from '@trestle/service/probes/probes';
import { toServiceOptions } from '@trestle/service/settings';
import { createTracing } from '@trestle/telemetry';
import { startExports } from '@trestle/telemetry/exports';
import express from 'express';
import { buildSchema } from 'graphql';
import type { Registry } from 'prom-client';
import { readConfig } from './config.ts';
import { createFileClient } from './gateway/file-client.ts';
import { createGatewayClient } from './gateway/gateway-client.ts';
import { type AddressSettings, createAddresses } from './http/addresses.ts';
import { watchMaintenance } from './http/maintenance.ts';
import { createEventStreams } from './http/event-streams.ts';
import { createLoadGuard } from './http/overload.ts';
import { createRefusals } from './oauth/errors.ts';
import { withApiVersion } from './http/versioned-probes.ts';
import { type OAuthListener, createOAuthListener } from './oauth/listener.ts';
import { withDocumentRoutes } from './openapi/document-routes.ts';
import { compileRoutes } from './pipeline/compile.ts';
import { type PipelineDependencies, createPipeline } from './pipeline/pipeline.ts';
import type { Listener, ReceiverDependencies } from './pipeline/receive.ts';
import { toLeanTargets } from './routes/lean-targets.ts';
import { routes } from './routes/route-table.ts';
import { createVersions } from './versions/versions.ts';

/** The methods of all routes, for preflight requests. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

const config = readConfig();
const log = createLog({ service: 'rest-bridge', level: config.LOG_LEVEL });

await runProcess(log, start, { delayMs: config.DRAIN_DELAY_MS });

/** Starts everything, and resolves with the function that stops it again. */
async function start() {
  const gateway = createGatewayClient({
    url: config.GATEWAY_URL,
    timeoutMs: config.GATEWAY_TIMEOUT_MS,
    certificate: config.GATEWAY_CERT_FILE,
  });
  const files = createFileClient({
    origins: { users: config.USERS_URL, content: config.CONTENT_URL },
    ticketKey: config.CLIENT_ID_KEY_FILE,
    timeoutMs: config.GATEWAY_TIMEOUT_MS,
  });
  const probes = createProbes({ isReady: () => gateway.isReady() });
  const tracing = await createTracing({ service: 'rest-bridge', settings: config });
  const stopExports = await startExports({ service: 'rest-bridge', settings: config, registries: probes.registries, log });
  const load = createLoadGuard({ maxInFlight: config.MAX_IN_FLIGHT, maxEventLoopDelayMs: config.MAX_EVENT_LOOP_DELAY_MS });
  const maintenance = await watchMaintenance(config.MAINTENANCE_FILE);
  const { verifier, publicKeys, apiKeys, stop: stopAuthentication } = await createAuthentication(probes.metrics);
  const observe = createObserver(probes.metrics);
  const rateLimits = await createRateLimits(config, log);
  const edge = toEdge(config, { publicUrls: [config.PUBLIC_URL], methods: METHODS });
  if (config.CLIENT_ID_KEY_FILE === undefined)
    log.warn('CLIENT_ID_KEY_FILE is not set: the gateway counts all requests of this process as those of one address');
  const streams = createEventStreams();
  const received: ReceiverDependencies = { verifier, apiKeys, rateLimits, load, maintenance, tracing, log, observe };
  const table = createRoutes(publicKeys, edge.isSecure);
  const pipeline = createPipeline({
    ...received,
    ...table,
    gateway,
    streams,
    files,
    maxUploadBytes: config.MAX_UPLOAD_BYTES,
    isAllowedOrigin: edge.isAllowedOrigin,
  });
  const oauth = createOAuthListener({ ...received, url: config.USERS_URL, timeoutMs: config.GATEWAY_TIMEOUT_MS });
  const service = await startService({
    log,
    port: config.REST_PORT,
    host: config.HOST,
    tls: config.tls,
    probes: withApiVersion(probes),
    handle: createRequestListener(pipeline, oauth),
    ...toServiceOptions(config),
    ...(config.REQUEST_READER === 'lean' && { lean: { get: toLeanTargets(routes, table.versions.known) } }),
    edge,
    rateLimits,
    ...createRefusals(table.versions),
  });
  return async () => {
    const stopped = service.stop();
    streams.stop();
    await stopped;
    rateLimits.close();
    load.close();
    maintenance.close();
    await stopAuthentication();
    await Promise.all([gateway.close(), files.close(), oauth.close()]);
    await Promise.all([tracing.stop(), stopExports()]);
  };
}

/** Creates what credentials are checked with. Without REVOCATIONS_URL a revoked token is refused by the gateway, which verifies it again. */
async function createAuthentication(metrics: Registry) {
  const { REVOCATIONS_URL: revocationsUrl, API_KEY_EXCHANGE_URL: exchangeUrl } = config;
  const revocations = createRevocations({ foreignSeconds: toRevocationSeconds(config.TRUSTED_ISSUERS_FILE) });
  const watch = revocationsUrl === undefined ? undefined : watchRevocations({ url: revocationsUrl, revocations, log, metrics });
  await watch?.settled;
  const { verifier, publicKeys, stop: stopVerification } = await startVerification(config, { log, revocations });
  const apiKeys = exchangeUrl === undefined ? undefined : createApiKeyExchange({ url: exchangeUrl, verifier, metrics });
  const stop = async () => {
    stopVerification();
    watch?.stop();
    await apiKeys?.close();
  };
  return { verifier, publicKeys, apiKeys, stop };
}

/** Compiles the routes of every version. */
function createRoutes(
  publicKeys: Verification['publicKeys'],
  isSecure: NonNullable<AddressSettings['isSecure']>,
): Pick<PipelineDependencies, 'versions' | 'tables'> {
  const schema = buildSchema(readApiSdl());
  const addresses = createAddresses({
    publicUrl: config.PUBLIC_URL,
    publicGatewayUrl: config.PUBLIC_GATEWAY_URL,
    publicRegistryUrl: config.PUBLIC_REGISTRY_URL,
    gatewayUrl: config.GATEWAY_URL,
    isSecure,
  });
  const versions = createVersions(config.API_VERSIONS_FILE);
  const allRoutes = withDocumentRoutes(routes, { schema, addresses, publicKeys });
  return { versions, tables: new Map(versions.known.map((version) => [version, compileRoutes(allRoutes, { schema, version })])) };
}

/**
 * Mounts the pipeline once, at the root of a router: it matches routes itself, so that a request passes no chain of middlewares. A router
 * without an application, because an application changes the prototype of every request and response, which costs more than the rest.
 */
function createRequestListener(pipeline: Listener, oauth: OAuthListener): ServiceOptions['handle'] {
  const router = express.Router().use(pipeline);
  return (request, response) => {
    // The pipeline renders its errors. When that fails too, the connection is closed.
    const abort = (error: unknown) => {
      log.error('could not send a response', { error });
      response.destroy();
    };
    const passOn = oauth.find(request);
    if (passOn) passOn(request, response).catch(abort);
    else
      router(request as express.Request, response as express.Response, (error: unknown) => {
        // The router skips the pipeline for a target that it cannot parse as a URL, such as `http://[`.
        if (error === undefined) pipeline(request, response).catch(abort);
        else abort(error);
      });
  };
}

/** Creates an observer that keeps the series of each route, method and status. */
function createObserver(registry: Registry): ReceiverDependencies['observe'] {
  const openSeries = createHistogram({
    registry,
    name: 'trestle_rest_request_duration_seconds',
    help: 'Time from the headers of a request to the end of its response.',
    labelNames: ['route', 'method', 'status'],
  });
  const known = new Map<string, HistogramSeries>();
  return ({ route, method, status, seconds, span }) => {
    const key = `${route} ${method} ${String(status)}`;
    const series = known.get(key) ?? openSeries({ route, method, status: String(status) });
    known.set(key, series);
    series.observe(seconds, span);
  };
}
