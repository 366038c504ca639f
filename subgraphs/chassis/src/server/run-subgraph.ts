/** Runs a subgraph process: migrates its database, serves its schema over HTTP and WebSocket, and stops in order. */
import { watchRevocations } from '@trestle/identity/revocations/revocation-watch';
import { createRevocations } from '@trestle/identity/revocations/revocations';
import { toRevocationSeconds } from '@trestle/identity/verification/trusted-issuers';
import { type VerificationSettings, startVerification } from '@trestle/identity/verification/verification';
import { type Log, type LogLevel, type ProcessLog, createLog } from '@trestle/log';
import type { SubgraphName } from '@trestle/schema/subgraphs';
import { runProcess, startService } from '@trestle/service';
import { createProbes } from '@trestle/service/probes/probes';
import { type ServiceSettings, toServiceOptions } from '@trestle/service/settings';
import { createTracing } from '@trestle/telemetry';
import { startExports } from '@trestle/telemetry/exports';
import type { TelemetrySettings } from '@trestle/telemetry/settings';
import type { Registry } from 'prom-client';
import { type DatabaseLimits, openDatabase } from '../database/database.ts';
import { createLateIndexes } from '../database/late-indexes.ts';
import { migrate } from '../database/migrate.ts';
import type { EventFeed } from '../events/feeds/domain-event.ts';
import { type Events, createEvents } from '../events/source-streams/events.ts';
import { FEED_PATH, createFeedEndpoint } from '../events/feeds/feed-endpoint.ts';
import { type FeedSettings, createFeeds } from '../events/feeds.ts';
import { createLocalFeed } from '../events/feeds/local-feed.ts';
import { type MutationLimits, applyMutationLimits } from '../graphql/mutation-limits.ts';
import { createSubgraphSchema } from '../graphql/schema.ts';
import type { RequestContext } from '../request/context.ts';
import { migrateQueue } from '../jobs/queue.ts';
import { createSocketOperations } from '../sockets/operations.ts';
import { type SocketServer, createSocketServer } from '../sockets/socket-server.ts';
import { createHttpApp, startApolloServer } from './apollo-server.ts';
import { createInFlight } from './in-flight.ts';
import { createRequestTelemetry } from './request-telemetry.ts';
import type { Background, Chassis, OpenSource, Subgraph } from './subgraph.ts';
import { startSweeps } from './sweeps.ts';

/** The settings of every subgraph; see `settings.ts` for their defaults. */
export type SubgraphSettings = ServiceSettings &
  VerificationSettings &
  TelemetrySettings &
  FeedSettings & {
    readonly HOST: string;
    readonly LOG_LEVEL: LogLevel;
    readonly DATABASE_CONNECTIONS: number;
    readonly DATABASE_CONNECT_TIMEOUT_MS: number;
    readonly DATABASE_STATEMENT_TIMEOUT_MS: number;
    readonly DATABASE_LOCK_TIMEOUT_MS: number;
    /** The interval at which a worker of jobs sends a sign of life. */
    readonly JOB_HEARTBEAT_MS: number;
    /** How long a mutation may take until it is committed; less than the gateway's `SUBGRAPH_TIMEOUT_MS`. */
    readonly MUTATION_TIMEOUT_MS: number;
    /** How long events are kept, at least. */
    readonly EVENTS_RETENTION_HOURS: number;
    /** Where revoked tokens are published; absent for the subgraph that publishes them. */
    readonly REVOCATIONS_URL?: string | undefined;
  };

/** What a subgraph process is started with. */
export interface SubgraphOptions<Context extends RequestContext> {
  readonly name: SubgraphName;
  readonly port: number;
  readonly databaseUrl: string;
  readonly settings: SubgraphSettings;
  readonly create: (chassis: Chassis) => Subgraph<Context>;
}

/** The most mutations that wait for their turn; more are refused at once. */
const MAX_WAITING_MUTATIONS = 1000;

/** Runs a subgraph process from its `main.ts` until it gets a signal to stop. */
export async function runSubgraph<Context extends RequestContext>(options: SubgraphOptions<Context>): Promise<void> {
  const { name, settings } = options;
  const log = createLog({ service: name, level: settings.LOG_LEVEL });
  await runProcess(log, () => start(options, log), { delayMs: settings.DRAIN_DELAY_MS });
}

/** Starts a subgraph. Resolves with how to stop it. */
async function start<Context extends RequestContext>(
  { name, port, databaseUrl: url, settings, create }: SubgraphOptions<Context>,
  log: ProcessLog,
): Promise<() => Promise<void>> {
  const revocations = createRevocations({ foreignSeconds: toRevocationSeconds(settings.TRUSTED_ISSUERS_FILE) });
  const verification = await startVerification(settings, { log, revocations });
  const applied = await migrate(name, url);
  if (applied.length > 0) log.info('migrated', { count: applied.length });

  const probes = createProbes({ isReady: () => database.isReachable() });
  const { metrics } = probes;
  const database = openDatabase({ url, metrics, ...toDatabaseLimits(settings) });
  const tracing = await createTracing({ service: name, settings });
  const stopExports = await startExports({ service: name, settings, registries: probes.registries, log });
  const telemetry = createRequestTelemetry({ metrics, log, tracing });
  const { verifier, publicKeys } = verification;
  const subgraph = create({ database, revocations, verifier, publicKeys, log });
  const { createContext, topics = {}, uploads } = subgraph;
  const schema = createSubgraphSchema(name, subgraph);
  applyMutationLimits(schema, toMutationLimits(settings));
  const server = await startApolloServer({ schema, log, plugin: telemetry.plugin });
  const inFlight = createInFlight();
  const events = createEvents({ url, database, topics, log });
  const feed = createLocalFeed({ source: name, database, events });
  const feedEndpoint = serveFeed(feed, { key: settings.EVENTS_KEY_FILE, log });
  const endpoints = { ...subgraph.endpoints, ...feedEndpoint?.endpoints };
  const handle = createHttpApp({ server, inFlight, telemetry, verifier, createContext, endpoints, uploads, log });
  const { feeds, stop: stopFeeds } = createFeeds({ local: feed, settings, log, metrics });
  const background =
    subgraph.startBackground?.(events, feeds, metrics) ?? watchRevokedTokens({ url: settings.REVOCATIONS_URL, revocations, log, metrics });
  const operations = createSocketOperations({ schema, server, createContext, events: withSources(events, subgraph.sources), log, metrics });
  const sockets = createSocketServer({ schema, operations, verifier, log });
  const upgrade: SocketServer['upgrade'] = (request, socket, head) => {
    (background.upgrades[request.url ?? ''] ?? sockets.upgrade)(request, socket, head);
  };
  if (subgraph.startJobs) await migrateQueue(url, log);
  const service = await startService({ log, port, host: settings.HOST, probes, handle, upgrade, ...toServiceOptions(settings) });
  const jobs = subgraph.startJobs?.({ url, heartbeatMs: settings.JOB_HEARTBEAT_MS, log });
  const consumers = subgraph.startConsumers?.({ feeds, url, metrics });
  const lateIndexes = subgraph.lateIndexes && createLateIndexes({ url, indexes: subgraph.lateIndexes, log });
  const sweepEvents = () => events.sweep(settings.EVENTS_RETENTION_HOURS);
  const sweeps = startSweeps(log, [sweepEvents, ...(subgraph.sweeps ?? [])]);

  return async () => {
    sweeps.stop();
    await service.announceStop();
    const stopped = service.stop();
    feedEndpoint?.stop();
    // Requests in flight may need what runs in the background.
    await Promise.all([inFlight.settle(), sockets.close(), jobs?.stop(), consumers?.stop(), lateIndexes?.stop()]);
    background.stop();
    await stopFeeds();
    verification.stop();
    await stopped;
    for (const close of [events.close, () => server.stop(), subgraph.close, database.close, () => tracing.stop(), stopExports])
      await close?.();
  };
}

/** Adds source streams of the subgraph's own. */
function withSources(events: Events, sources: Readonly<Record<string, OpenSource>> = {}): Events {
  return { ...events, open: (selection, after) => (sources[selection.topic] ?? events.open)(selection, after) };
}

/** Creates the endpoint of the subgraph's events; without a key nobody may read them. */
function serveFeed(feed: EventFeed, { key, log }: { readonly key: string | undefined; readonly log: Log }) {
  if (key === undefined) return undefined;
  const { handle, stop } = createFeedEndpoint({ feed, key, log });
  return { endpoints: { [FEED_PATH]: handle }, stop };
}

type WatchOptions = Omit<Parameters<typeof watchRevocations>[0], 'url'> & { readonly url: string | undefined; readonly metrics: Registry };

/** Subscribes to the revoked tokens that another subgraph publishes. */
function watchRevokedTokens({ url, ...options }: WatchOptions): Background {
  if (url !== undefined) return { upgrades: {}, stop: watchRevocations({ url, ...options }).stop };
  options.log.warn('REVOCATIONS_URL is not set: revoked tokens are accepted until they expire');
  return { upgrades: {}, stop: () => undefined };
}

function toDatabaseLimits(settings: SubgraphSettings): DatabaseLimits {
  return {
    connections: settings.DATABASE_CONNECTIONS,
    connectTimeoutMs: settings.DATABASE_CONNECT_TIMEOUT_MS,
    statementTimeoutMs: settings.DATABASE_STATEMENT_TIMEOUT_MS,
    lockTimeoutMs: settings.DATABASE_LOCK_TIMEOUT_MS,
  };
}

/** Mutations may use half of the connections. Their last statement starts early enough to end in time. */
function toMutationLimits({ DATABASE_CONNECTIONS, DATABASE_STATEMENT_TIMEOUT_MS, MUTATION_TIMEOUT_MS }: SubgraphSettings): MutationLimits {
  const startMs = Math.max(MUTATION_TIMEOUT_MS - DATABASE_STATEMENT_TIMEOUT_MS, MUTATION_TIMEOUT_MS / 10);
  return {
    concurrency: Math.floor(DATABASE_CONNECTIONS / 2),
    queueLength: MAX_WAITING_MUTATIONS,
    allowed: { startMs, commitMs: MUTATION_TIMEOUT_MS },
  };
}
