/** The registry process: migrates its database, and serves its GraphQL API and the artifacts for gateways. */
import { openDatabase } from '@trestle/chassis/database/database';
import { migrate } from '@trestle/chassis/database/migrate';
import { createHttpApp, startApolloServer } from '@trestle/chassis/server/apollo-server';
import { createInFlight } from '@trestle/chassis/server/in-flight';
import { createRequestTelemetry } from '@trestle/chassis/server/request-telemetry';
import { createIds } from '@trestle/chassis/values/ids';
import { type ProcessLog, createLog } from '@trestle/log';
import { runProcess, startService } from '@trestle/service';
import { createProbes } from '@trestle/service/probes/probes';
import { toServiceOptions } from '@trestle/service/settings';
import { createTracing } from '@trestle/telemetry';
import { startExports } from '@trestle/telemetry/exports';
import { createContext } from './api/context.ts';
import { createRegistrySchema } from './api/schema.ts';
import { readConfig } from './config.ts';
import { createPages } from './pages/pages.ts';
import { createRegistry } from './registry.ts';
import { publishSeed } from './seed.ts';
import { maintainPartitions, watchPartitions } from './usage/partitions.ts';

const NAME = 'registry';
/** A publish waits for the publishes of other processes, each of which may compose for a minute, and make contracts for another one. */
const STATEMENT_TIMEOUT_MS = 150_000;

const config = readConfig();
const log = createLog({ service: NAME, level: config.LOG_LEVEL });
await runProcess(log, () => start(log), { delayMs: config.DRAIN_DELAY_MS });

async function start(log: ProcessLog): Promise<() => Promise<void>> {
  const { REGISTRY_DATABASE_URL: url, REGISTRY_SIGNING_KEY_FILE: signingKey, REGISTRY_PORT: port, HOST: host } = config;
  const applied = await migrate(NAME, url);
  if (applied.length > 0) log.info('migrated', { count: applied.length });
  const probes = createProbes({ isReady: () => database.isReachable() });
  const { metrics } = probes;
  const limits = { statementTimeoutMs: STATEMENT_TIMEOUT_MS, lockTimeoutMs: STATEMENT_TIMEOUT_MS };
  const database = openDatabase({ url, metrics, connections: config.DATABASE_CONNECTIONS, ...limits });
  const partitions = { database, retentionDays: config.REGISTRY_USAGE_DAYS, now: Date.now };
  await maintainPartitions(partitions);
  const tracing = await createTracing({ service: NAME, settings: config });
  const stopExports = await startExports({ service: NAME, settings: config, registries: probes.registries, log });
  const telemetry = createRequestTelemetry({ metrics, log, tracing });
  const running = createRegistry({
    ...{ database, signingKey, metrics, log },
    createId: createIds({ now: Date.now }),
    checkDefaults: {
      days: config.REGISTRY_CHECK_DAYS,
      enoughDays: config.REGISTRY_CHECK_ENOUGH_DAYS,
      enoughRequests: config.REGISTRY_CHECK_ENOUGH_REQUESTS,
      maxCost: config.REGISTRY_CHECK_MAX_COST,
      assumedListSize: config.REGISTRY_CHECK_ASSUMED_LIST_SIZE,
    },
  });
  const { registry, endpoints } = running;
  const schema = createRegistrySchema();
  const server = await startApolloServer({ schema, log, plugin: telemetry.plugin });
  const inFlight = createInFlight();
  const handle = createHttpApp({
    ...{ server, inFlight, telemetry, endpoints, log },
    pages: createPages(schema),
    // A token of the registry is no access token: the context looks it up.
    verifier: { verify: () => null },
    createContext: (request) => createContext(request, registry),
  });
  const service = await startService({ log, port, host, probes, handle, ...toServiceOptions(config) });
  if (config.REGISTRY_SEED) void publishSeed(registry, log);

  const stopPartitions = watchPartitions(partitions, log);

  return async () => {
    stopPartitions();
    await service.announceStop();
    const stopped = service.stop();
    running.endWaits();
    await inFlight.settle();
    await stopped;
    for (const end of [() => running.close(), () => server.stop(), database.close, () => tracing.stop(), stopExports]) await end();
  };
}
