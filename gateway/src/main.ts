/** The process of the gateway; also the command `trestle-gateway`, which serves any Federation 2 supergraph. */
import cluster from 'node:cluster';
import type { IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { NO_RATE_LIMITS, createRateLimits } from '@trestle/limits/settings';
import { createLog, withFields } from '@trestle/log';
import { fail } from '@trestle/schema/errors';
import { runProcess, startService } from '@trestle/service';
import { createAdmission } from '@trestle/service/admission/admission';
import type { Edge } from '@trestle/service/edge/edge';
import { toEdge } from '@trestle/service/edge/edge-settings';
import { type Probes, createProbes } from '@trestle/service/probes/probes';
import { toRequestId } from '@trestle/service/messages/request-id';
import { toServiceOptions } from '@trestle/service/settings';
import { createTracing } from '@trestle/telemetry';
import { startExports } from '@trestle/telemetry/exports';
import { Registry } from 'prom-client';
import { createGraphChooser } from './choose-graph.ts';
import { readCommandLine } from './command-line.ts';
import { check } from './commands/check.ts';
import { type GraphConfig, readConfig } from './config.ts';
import { type AcceptedFiles, toAcceptedFiles } from './configuration/file/accepted-files.ts';
import { createSettingTree } from './configuration/entries/setting-tree.ts';
import { type Graph, startGraph } from './graph.ts';
import type { SharedParts } from './shared-parts.ts';
import { findCorsHeaders } from './collected-headers.ts';
import { receiveCallbacks } from './receive-callbacks.ts';
import { registerSendBuffers } from './observability/subscription-metrics.ts';
import { toPackageUrl } from './package-files.ts';
import { SendBuffers } from './transports/delivery/send-buffers.ts';
import { VARY } from './transports/http/cache-control.ts';
import { createCompression } from './transports/http/compression.ts';
import { sendRefusal, toRefusalResponse } from './transports/http/refusal.ts';
import { refuseSocket } from './transports/websocket/refuse-socket.ts';
import { shareLimits } from './share-limits.ts';
import { createSubjectWriter } from './tls/client-subject.ts';
import { watchServerTls } from './tls/server-certificate.ts';
import { watchConfigurations } from './watch-configuration.ts';
import { startWorkers } from './workers/primary.ts';
import { describeServed } from './launches/describe-served.ts';
import { connectToPrimary, receiveConfiguration } from './workers/worker.ts';

/** How long the engines and the exporters may take to stop once every request has ended. */
const STOP_MS = 5000;

const NO_GRAPH = 'No graph is served at the host and path of the request.';
/** The methods of all paths, for preflight requests. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS'];

const { command, notice, settings: flags } = readCommandLine(process.argv.slice(2));
if (notice !== undefined) {
  process.stdout.write(notice);
  process.exit(0);
}
if (command !== 'start') process.exit(await runCommand());
const received = cluster.isWorker ? await receiveConfiguration() : undefined;
const read = async (accepted?: AcceptedFiles) => shareLimits(await readConfig(undefined, undefined, accepted));
const config = await read(received?.accepted);
const processLog = createLog({ service: 'gateway', level: config.LOG_LEVEL, format: config.LOG_FORMAT });
const log = cluster.worker ? withFields(processLog, { worker: cluster.worker.id }) : processLog;
/** The other side of a worker; undefined for the only process of a gateway, and for the primary of several workers. */
const primary = cluster.isWorker ? connectToPrimary(log) : undefined;
/** The configuration that the other workers have applied, and how they get to know what this one applies. */
const ofOthers = { applied: received?.applied, onApplied: primary?.reportApplied };
const { SUBSCRIPTION_DRAIN_MS: subscriptionDrainMs, REQUEST_DRAIN_MS: requestDrainMs, DRAIN_DELAY_MS: delayMs } = config;
const drainMs = subscriptionDrainMs + requestDrainMs;
/** Subscriptions end in the last part of the time in which the process still serves. */
const subscriptionDelayMs = Math.max(0, delayMs - subscriptionDrainMs);

const stopLimitMs = drainMs + STOP_MS;
if (config.WORKERS > 1 && cluster.isPrimary)
  await runProcess(log, () => startWorkers({ count: config.WORKERS, accepted: toAcceptedFiles(config), log }), {
    stopLimitMs: stopLimitMs + STOP_MS,
    delayMs,
  });
else await runProcess(log, start, { stopLimitMs, delayMs });

async function start() {
  const graphs: Graph[] = [];
  // The process listens once all supergraphs are loaded, so it is always ready.
  const probes = createProbes({
    isReady: () => true,
    readDetails: () => describeServed(graphs),
    collectMetrics: primary?.readMetrics,
    paths: { liveness: config.LIVENESS_PATH, readiness: config.READINESS_PATH },
  });
  const tracing = await createTracing({ service: 'gateway', settings: config });
  const stopExports = await startExports({ service: 'gateway', settings: config, registries: probes.registries, log: processLog });
  const admission = createAdmission();
  const hasRateLimits = config.graphs.some((each) => each.config.hasRateLimits);
  const rateLimits = hasRateLimits ? await createRateLimits(config, log, primary?.windows) : NO_RATE_LIMITS;
  const edge = toEdge(config, {
    publicUrls: [config.PUBLIC_URL],
    methods: METHODS,
    allowsCredentials: config.CORS_CREDENTIALS,
    maxAgeSeconds: config.CORS_MAX_AGE_SECONDS,
    ...findCorsHeaders(config.graphs.map((each) => each.config)),
  });
  const buffers = new SendBuffers(config.sendBuffers);
  registerSendBuffers(probes.metrics, buffers);
  const compression = createCompression(config.RESPONSE_COMPRESSION);
  const callbacks = await receiveCallbacks(config, log);
  const parts = { tracing, admission, rateLimits, edge, buffers, compression };
  const shared = { ...parts, startPlanner: primary?.startPlanner, callbacks: callbacks.registry };
  graphs.push(...(await Promise.all(config.graphs.map((each) => startOne(each, { probes, shared })))));
  const configuration = await watchConfigurations({ config, ...ofOthers, read, log: { ...processLog, ...log }, graphs });
  const service = await startService({
    log,
    port: config.port,
    host: config.HOST,
    tls: config.tls,
    probes,
    listeningFields: { path: config.GRAPHQL_PATH },
    ...nameClients(route(graphs, edge)),
    admission,
    maxEventLoopDelayMs: config.GATEWAY_MAX_EVENT_LOOP_DELAY_MS,
    toRefusalResponse,
    drainMs: drainMs - (delayMs - subscriptionDelayMs),
    ...toServiceOptions(config),
    lean: config.REQUEST_READER === 'lean' ? { post: config.GRAPHQL_PATH } : undefined,
    edge,
    rateLimits,
  });
  const certificate = watchServerTls({ env: config.env, current: config.tls, replace: service.replaceTls, log });
  primary?.expose(probes.registries);
  return async () => {
    for (const graph of graphs) graph.stopWatching();
    configuration.stop();
    certificate.stop();
    const stopped = service.stop();
    await delay(subscriptionDelayMs);
    await Promise.all([stopped, ...graphs.map((graph) => graph.drain())]);
    rateLimits.close();
    callbacks.stop();
    await Promise.all(graphs.map((graph) => graph.stop()));
    await Promise.all([tracing.stop(), stopExports()]);
  };
}

/** Starts a graph. One of several has its name in its metrics and in the log. */
function startOne(graph: GraphConfig, { probes, shared }: { readonly probes: Probes; readonly shared: SharedParts }): Promise<Graph> {
  const { name } = graph.place;
  if (name === undefined) return startGraph(graph, { log, metrics: probes.metrics, shared });
  const metrics = new Registry();
  metrics.setDefaultLabels({ graph: name });
  probes.addMetrics(metrics);
  return startGraph(graph, { log: withFields(log, { graph: name }), metrics, shared });
}

/** Returns the handlers of requests. With one graph they are its own, and a request takes no step more. */
function route(graphs: readonly Graph[], { prepare }: Pick<Edge, 'prepare'>): Pick<Graph, 'handle' | 'upgrade'> {
  const [only] = graphs;
  if (only && only.place.name === undefined) return { handle: only.handle, upgrade: only.upgrade };
  const choose = createGraphChooser(graphs);
  return {
    handle: (request, response) => {
      const graph = choose(request);
      if (graph) graph.handle(request, response);
      else sendRefusal({ request, response, requestId: readRequestId(request), vary: VARY }, { error: fail('NOT_FOUND', NO_GRAPH), log });
    },
    upgrade: (request, stream, head) => {
      const graph = choose(request);
      if (graph) graph.upgrade(request, stream, head);
      else refuseSocket({ request, stream, prepare }, fail('NOT_FOUND', NO_GRAPH));
    },
  };
}

/** Has the certificates of clients named in a header of their requests, where one is configured. */
function nameClients({ handle, upgrade }: Pick<Graph, 'handle' | 'upgrade'>): Pick<Graph, 'handle' | 'upgrade'> {
  if (config.TLS_CLIENT_SUBJECT_HEADER === undefined) return { handle, upgrade };
  const write = createSubjectWriter(config.TLS_CLIENT_SUBJECT_HEADER);
  return {
    handle: (request, response) => {
      write(request);
      handle(request, response);
    },
    upgrade: (request, stream, head) => {
      write(request);
      upgrade(request, stream, head);
    },
  };
}

function readRequestId({ headers }: IncomingMessage): string {
  return toRequestId(headers['x-request-id']);
}

/** Runs a command that ends by itself, and returns its exit code. */
async function runCommand(): Promise<number> {
  const print = (line: string) => process.stdout.write(`${line}\n`);
  const printFault = (line: string) => process.stderr.write(`${line}\n`);
  if (command === 'check') return check({ readConfig: () => readConfig(), print, printFault });
  const { init } = await import('./commands/init.ts');
  return init({ file: flags['TRESTLE_CONFIG'], tree: createSettingTree(), schema: toPackageUrl('trestle.schema.json'), print, printFault });
}
