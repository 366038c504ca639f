/** Starts databases and processes in order, and stops them in the reverse order. */
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isDiskFull, toDiskFullError } from '@trestle/postgres/disk-full';
import { isLeftRunning } from '@trestle/postgres/embedded';
import { SUBGRAPH_NAMES, databaseSettingOf, portSettingOf } from '@trestle/schema/subgraphs';
import { ensureApiKeySecret } from './api-key-secret.ts';
import type { Config } from './config.ts';
import { type DemoCredentials, ensureCredentials } from './credentials.ts';
import { type DataDirectory, openDataDirectory } from './data-directory.ts';
import { DATABASE_OWNERS, type DatabaseUrls, openDatabases } from './databases.ts';
import { loadDemoData } from './demo/load.ts';
import { openContentFiles } from './demo/video-files.ts';
import { ensureOAuthKey } from './oauth-settings.ts';
import { type WantedPort, findPortFaults } from './ports.ts';
import { planProcesses } from './processes.ts';
import { ensureRegistryKeys } from './registry-keys.ts';
import { ensureSharedKeys } from './shared-keys.ts';
import { stopInOrder } from './stop-in-order.ts';
import { type SupervisedProcess, superviseProcess } from './supervised-process.ts';
import { ensureTokenKeys } from './token-keys.ts';

/** Holds what the summary of a start needs. */
export interface Started {
  /** Credentials of the demo accounts; undefined without demo accounts. */
  readonly credentials: DemoCredentials | undefined;
  /** Port of the embedded server; undefined when the settings name all databases. */
  readonly postgresPort: number | undefined;
}

/** Controls the whole system. */
export interface Supervisor {
  /** Starts the system. Resolves when every process is ready. */
  start(): Promise<Started>;
  /** Stops everything that has been started. Resolves when it has ended. */
  stop(): Promise<void>;
  /** Restarts the processes with these names. Resolves when they are ready; rejects when one of them ends before that. */
  restart(names: readonly string[]): Promise<void>;
  /** Kills all processes immediately. */
  kill(): void;
}

/** Processes of a killed supervisor drain for up to 5 s before they release their ports. */
const ABANDONED_TIMEOUT_MS = 8000;
const POLL_MS = 100;

/** Creates a supervisor. `say` prints a line on the terminal. */
export function createSupervisor(config: Config, say: (line: string) => void): Supervisor {
  const end = new AbortController();
  const stops: (() => Promise<void>)[] = [];
  let groups: SupervisedProcess[][] = [];
  let starting: Promise<unknown> = Promise.resolve();

  const start = async (): Promise<Started> => {
    const directory = await openDataDirectory(config.DATA_DIR);
    stops.push(() => directory.release());
    await requirePorts(config, directory, end.signal);
    const { file: apiKeySecretFile, secret: apiKeySecret } = await ensureApiKeySecret(directory.keys);
    const shared = await ensureSharedKeys(directory.keys);
    const oauthKeyFile = await ensureOAuthKey(directory.keys);
    const registry = await ensureRegistryKeys(directory.keys);
    const keys = { ...(await ensureTokenKeys(directory.keys)), ...shared, ...registry, apiKeySecretFile, oauthKeyFile };
    const credentials = config.DEMO_DATA ? await ensureCredentials(directory.path) : undefined;
    say('Starting PostgreSQL and migrating the databases …');
    const databases = await openDatabases({
      given: toGiven(config),
      dataDir: directory.postgres,
      port: config.PG_PORT,
      migrations: join(config.root, 'prisma'),
      say,
    });
    stops.push(() => databases.stop());
    end.signal.throwIfAborted();
    const files = await openContentFiles(config);
    const isDemo = credentials && (await loadDemoData({ urls: databases.urls, credentials, apiKeySecret, files, say }));
    end.signal.throwIfAborted();
    say(`Starting ${SUBGRAPH_NAMES.join(', ')}, registry, gateway and rest-bridge …`);
    groups = planProcesses({ config, databaseUrls: databases.urls, keys }).map((group) =>
      group.map((plan) => superviseProcess({ plan, logDirectory: directory.logs, say })),
    );
    stops.push(() => stopInOrder(groups));
    const stopWaiting = onAbort(end.signal);
    await Promise.race([Promise.all(groups.flat().map((process) => process.start())), stopWaiting]);
    return { credentials: isDemo ? credentials : undefined, postgresPort: databases.embedded?.port };
  };

  return {
    start() {
      const started = start().catch((error: unknown) => {
        throw isDiskFull(error) ? toDiskFullError(config.DATA_DIR, error) : error;
      });
      starting = started.catch(() => undefined);
      return started;
    },
    async stop() {
      end.abort();
      await starting;
      for (const stop of stops.splice(0).toReversed()) await stop();
    },
    async restart(names) {
      const wanted = groups.flat().filter(({ name }) => names.includes(name));
      await Promise.all(wanted.map((process) => process.restart()));
    },
    kill() {
      for (const process of groups.flat()) process.kill();
    },
  };
}

/** Throws unless all ports are free. Waits for the processes of a killed supervisor to release them. */
async function requirePorts(config: Config, directory: DataDirectory, signal: AbortSignal): Promise<void> {
  const deadline = Date.now() + (directory.wasAbandoned ? ABANDONED_TIMEOUT_MS : 0);
  for (;;) {
    const faults = await findPortFaults(await listPorts(config, directory));
    signal.throwIfAborted();
    if (faults.length === 0) return;
    if (Date.now() >= deadline) throw new Error(faults.join('\n'));
    await delay(POLL_MS);
  }
}

async function listPorts(config: Config, directory: DataDirectory): Promise<WantedPort[]> {
  const settings = ['REST_PORT', 'GATEWAY_PORT', 'REGISTRY_PORT', ...SUBGRAPH_NAMES.map(portSettingOf)] as const;
  const wanted: WantedPort[] = settings.map((setting) => ({ setting, port: config[setting] }));
  const isEmbedded = Object.keys(toGiven(config)).length < DATABASE_OWNERS.length;
  const isOurs = isEmbedded && (await isLeftRunning({ dataDir: directory.postgres, port: config.PG_PORT }));
  return isEmbedded && !isOurs ? [...wanted, { setting: 'PG_PORT', port: config.PG_PORT }] : wanted;
}

/** Returns the URLs of the databases that the settings name. */
function toGiven(config: Config): Partial<DatabaseUrls> {
  const urls = SUBGRAPH_NAMES.map((name) => [name, config[databaseSettingOf(name)]] as const);
  const all = [...urls, ['registry', config.REGISTRY_DATABASE_URL] as const];
  return Object.fromEntries(all.filter(([, url]) => url !== undefined));
}

/** Rejects when the signal is aborted. */
function onAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const rejectStart = () => {
      reject(new Error('The start was cancelled', { cause: signal.reason }));
    };
    if (signal.aborted) rejectStart();
    else signal.addEventListener('abort', rejectStart, { once: true });
  });
}
