/** The five processes of one machine: three subgraphs, a gateway and a bridge. They call each other, and no process of another machine. */
import type { TestDatabase } from '@trestle/postgres/test-database';
import {
  SUBGRAPH_NAMES,
  type SubgraphName,
  databaseSettingOf,
  eachSubgraph,
  eventsUrlSettingOf,
  portSettingOf,
  urlSettingOf,
} from '@trestle/schema/subgraphs';
import { reserveTestPort } from '@trestle/service/testing/test-port';
import { PATIENT, type RunningProcess, startProcess } from './process.ts';

/** What the users subgraph needs of browsers, as `npm start` sets it. */
const FORWARDING = { FORWARD_MUTATION_HEADERS: 'cookie,origin,user-agent', FORWARD_RESPONSE_HEADERS: 'set-cookie' };

export interface ProcessesOptions {
  /** Goes to every process. */
  readonly env: Readonly<Record<string, string>>;
  readonly gatewayEnv: Readonly<Record<string, string>>;
  readonly bridgeEnv: Readonly<Record<string, string>>;
  readonly databases: Readonly<Record<SubgraphName, TestDatabase>>;
}

export interface Processes {
  readonly subgraphs: Record<SubgraphName, RunningProcess>;
  readonly gateway: RunningProcess;
  readonly bridge: RunningProcess;
  /** The settings of each process, for further ones. */
  readonly settings: Readonly<Record<'gateway' | 'bridge' | SubgraphName, Readonly<Record<string, string>>>>;
  /** Starts another gateway for the same subgraphs, with settings of its own. */
  startGateway(env?: Readonly<Record<string, string>>): Promise<RunningProcess>;
  /** Starts another bridge for the same gateway, with settings of its own. */
  startBridge(env?: Readonly<Record<string, string>>): Promise<RunningProcess>;
  /** Starts another process of a subgraph on the same database. */
  startSubgraph(name: SubgraphName, nodeOptions?: readonly string[]): Promise<RunningProcess>;
  /** Starts a killed subgraph again where it was. */
  revive(name: SubgraphName): Promise<void>;
  /** Ends all processes at once, those that were started later too. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
}

/** Starts `users`, which publishes the revocations, then the others at once. Leaves nothing when one fails. */
export async function startProcesses(options: ProcessesOptions): Promise<Processes> {
  const starting: Promise<RunningProcess>[] = [];
  const start: typeof startProcess = (...parameters) => {
    const started = startProcess(...parameters);
    starting.push(started);
    return started;
  };
  try {
    return await startEach(options, start);
  } catch (error) {
    await Promise.allSettled(starting.map(async (each) => (await each).end('SIGTERM')));
    throw error;
  }
}

async function startEach({ env, gatewayEnv, bridgeEnv, databases }: ProcessesOptions, start: typeof startProcess): Promise<Processes> {
  const further: RunningProcess[] = [];
  const keep = async (starting: Promise<RunningProcess>) => {
    const started = await starting;
    further.push(started);
    return started;
  };
  let revocations: Readonly<Record<string, string>> = {};
  // Processes call each other, so each must know the ports of the others before they have started.
  const [ports, gatewayPort] = await Promise.all([forEachSubgraph(() => reserveTestPort()), reserveTestPort()]);
  const eventUrls = Object.fromEntries(
    SUBGRAPH_NAMES.map((name) => [eventsUrlSettingOf(name), `http://127.0.0.1:${String(ports[name])}/events`]),
  );
  const settingsOf = (name: SubgraphName, port = 0) => {
    const remote = name === 'users' ? { CONTENT_URL: `http://127.0.0.1:${String(ports.content)}` } : revocations;
    const own = { [portSettingOf(name)]: String(port), [databaseSettingOf(name)]: databases[name].url, ...eventUrls };
    return { SECURE_COOKIES: 'off', ...env, ...remote, ...own };
  };
  const startSubgraph = (name: SubgraphName, port = 0, nodeOptions: readonly string[] = []) =>
    start(`subgraphs/${name}`, settingsOf(name, port), nodeOptions);
  const users = await startSubgraph('users', ports.users);
  revocations = { REVOCATIONS_URL: `${users.url}/revocations` };
  const authentication = { ...revocations, API_KEY_EXCHANGE_URL: `${users.url}/api-keys/exchange` };
  const urls = Object.fromEntries(SUBGRAPH_NAMES.map((name) => [urlSettingOf(name), `http://127.0.0.1:${String(ports[name])}/graphql`]));
  const gatewaySettings = { ...FORWARDING, ...env, ...authentication, ...urls, GATEWAY_PORT: '0', ...gatewayEnv };
  const startGateway = (own: Readonly<Record<string, string>> = {}) => keep(start('gateway', { ...gatewaySettings, ...own }));
  const addresses = {
    ...{ GATEWAY_URL: `http://127.0.0.1:${String(gatewayPort)}/graphql`, USERS_URL: users.url },
    ...{ CONTENT_URL: `http://127.0.0.1:${String(ports.content)}` },
  };
  const bridgeSettings = { ...PATIENT, ...env, ...authentication, REST_PORT: '0', ...addresses };
  const startBridge = (own: Readonly<Record<string, string>> = {}) => keep(start('rest-bridge', { ...bridgeSettings, ...own }));
  const [subgraphs, gateway, bridge] = await Promise.all([
    forEachSubgraph((name) => (name === 'users' ? Promise.resolve(users) : startSubgraph(name, ports[name]))),
    startGateway({ GATEWAY_PORT: String(gatewayPort) }),
    startBridge(bridgeEnv),
  ]);
  return {
    subgraphs,
    gateway,
    bridge,
    settings: { gateway: gatewaySettings, bridge: bridgeSettings, ...eachSubgraph((name) => settingsOf(name)) },
    startGateway,
    startBridge,
    startSubgraph: (name, nodeOptions) => keep(startSubgraph(name, 0, nodeOptions)),
    async revive(name) {
      subgraphs[name] = await startSubgraph(name, subgraphs[name].port);
    },
    async end(signal) {
      await Promise.all([...further, ...Object.values(subgraphs)].map((process) => process.end(signal)));
    },
  };
}

/** Makes something for all subgraphs at once. */
export async function forEachSubgraph<T>(make: (name: SubgraphName) => Promise<T>): Promise<Record<SubgraphName, T>> {
  const making = eachSubgraph(make);
  await Promise.all(Object.values(making));
  const made = await Promise.all(SUBGRAPH_NAMES.map(async (name) => [name, await making[name]] as const));
  return Object.fromEntries(made) as Record<SubgraphName, T>;
}
