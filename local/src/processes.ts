/** Plans the processes of the system, and the environment that each of them receives. No I/O. */
import { join } from 'node:path';
import {
  SUBGRAPH_NAMES,
  type SubgraphName,
  databaseSettingOf,
  eventsUrlSettingOf,
  portSettingOf,
  urlSettingOf,
} from '@trestle/schema/subgraphs';
import {
  BRIDGE_SETTINGS,
  CONTENT_SETTINGS,
  FILE_SETTINGS,
  GATEWAY_SETTINGS,
  REGISTRY_SETTINGS,
  SUBGRAPH_SETTINGS,
  USERS_SETTINGS,
  type Config,
  type Inherited,
} from './config.ts';
import type { DatabaseUrls } from './databases.ts';
import { toOAuthIssuer } from './oauth-settings.ts';
import type { RegistryKeyFiles } from './registry-keys.ts';
import type { SharedKeyFiles } from './shared-keys.ts';
import type { TokenKeyFiles } from './token-keys.ts';

/** Describes a process to start. */
export interface ProcessPlan {
  readonly name: string;
  /** Arguments of Node.js: its options, then the entry point. */
  readonly args: readonly string[];
  readonly port: number;
  readonly env: Readonly<Record<string, string>>;
}

/** Where the processes listen. */
export const HOST = '127.0.0.1';
/** Options of Node.js for every process, also in deployments. */
const NODE_OPTIONS_FILE = 'packages/service/node.env';
/** The setting of glibc's memory allocator that this file describes. */
const ALLOCATOR = { MALLOC_TRIM_THRESHOLD_: '4194304' };
/** A bundle starts faster (`bundle.mjs`); the modules are what `npm run dev` replaces one by one. */
const ENTRIES = { bundle: 'dist/bundle/main.js', modules: 'dist/main.js' };

/** What the users subgraph needs of browsers to keep sessions, and what it sends back to them. */
const SESSION_FORWARDING = { FORWARD_MUTATION_HEADERS: 'cookie,origin,user-agent', FORWARD_RESPONSE_HEADERS: 'set-cookie' };

/** Configures the plan. */
export interface PlanOptions {
  readonly config: Config;
  readonly databaseUrls: DatabaseUrls;
  readonly keys: TokenKeyFiles & SharedKeyFiles & RegistryKeyFiles & Readonly<Record<'apiKeySecretFile' | 'oauthKeyFile', string>>;
}

/** Returns the processes in groups, in start order. A group depends only on the groups before it, and is stopped before them. */
export function planProcesses({ config, databaseUrls, keys }: PlanOptions): ProcessPlan[][] {
  const inherit = createInherit(config);
  const plan = createPlan(config, { ...toSharedEnv(config, keys), ...inherit('PATH') });

  const { TLS_CERT_FILE: certificate, PUBLIC_URL: publicUrl, PUBLIC_GATEWAY_URL: publicGatewayUrl } = config.inherited;
  const { GRAPHQL_PATH: graphqlPath = '/graphql' } = config.inherited;
  const isPublicHttps = certificate !== undefined || publicUrl?.startsWith('https:') === true;
  const portOf = (name: SubgraphName) => config[portSettingOf(name)];
  const usersAt = (path: string) => addressOf(portOf('users'), path);
  const revocations = { REVOCATIONS_URL: usersAt('/revocations') };
  const authentication = { ...revocations, API_KEY_EXCHANGE_URL: usersAt('/api-keys/exchange') };
  const eventUrls = Object.fromEntries(SUBGRAPH_NAMES.map((name) => [eventsUrlSettingOf(name), addressOf(portOf(name), '/events')]));
  const issuer = toOAuthIssuer(config);
  const oauth = issuer === undefined ? {} : { OAUTH_ISSUER: issuer, OAUTH_KEY_FILE: keys.oauthKeyFile };
  const subgraph = (name: SubgraphName) => {
    const events = { EVENTS_KEY_FILE: keys.eventsKeyFile, ...eventUrls };
    const env = { [portSettingOf(name)]: String(portOf(name)), [databaseSettingOf(name)]: databaseUrls[name], ...events };
    const remote = { CONTENT_URL: addressOf(portOf('content'), '') };
    const secure = { SECURE_COOKIES: isPublicHttps ? 'on' : 'off' };
    const users = { ...toUsersEnv(config, keys), ...oauth, ...remote, ...inherit(...USERS_SETTINGS), ...secure };
    const own = {
      ...(name === 'users' ? users : revocations),
      ...(name === 'content' && inherit(...CONTENT_SETTINGS)),
      ...(name !== 'orders' && { ...filesIn(config), ...inherit(...FILE_SETTINGS) }),
    };
    return plan(name, `subgraphs/${name}`, { port: portOf(name), env: { ...inherit(...SUBGRAPH_SETTINGS), ...env, ...own } });
  };
  const gateway = plan('gateway', 'gateway', {
    port: config.GATEWAY_PORT,
    env: {
      ...SESSION_FORWARDING,
      ...(config.isDevelopment && { OVERWRITE_MEMORY: 'on' }),
      ...inherit(...GATEWAY_SETTINGS),
      ...authentication,
      GATEWAY_PORT: String(config.GATEWAY_PORT),
      ...Object.fromEntries(SUBGRAPH_NAMES.map((name) => [urlSettingOf(name), graphqlAt(portOf(name))])),
      ...config.subgraphSettings,
      // A process redirects plain HTTP to the host of its own PUBLIC_URL; PUBLIC_URL of `npm start` is the bridge's. The gateway adds its path.
      ...(publicGatewayUrl !== undefined && { PUBLIC_URL: withoutEnd(publicGatewayUrl, graphqlPath) }),
    },
  });
  const bridge = plan('rest-bridge', 'rest-bridge', {
    port: config.REST_PORT,
    env: {
      // Nothing on this machine is linked to from a public address.
      ...(publicUrl === undefined && { PUBLIC_REGISTRY_URL: `http://localhost:${String(config.REGISTRY_PORT)}/graphql` }),
      ...inherit(...BRIDGE_SETTINGS),
      ...authentication,
      REST_PORT: String(config.REST_PORT),
      CONTENT_URL: `http://${HOST}:${String(portOf('content'))}`,
      GATEWAY_URL: `${certificate === undefined ? 'http' : 'https'}://${HOST}:${String(config.GATEWAY_PORT)}${graphqlPath}`,
      ...(issuer !== undefined && { USERS_URL: usersAt('') }),
      // The bridge calls the gateway by an address that its certificate need not name.
      ...(certificate !== undefined && { GATEWAY_CERT_FILE: certificate }),
    },
  });
  const registry = plan('registry', 'registry', {
    port: config.REGISTRY_PORT,
    env: { ...inherit(...REGISTRY_SETTINGS), ...toRegistryEnv(config, { databaseUrls, keys }) },
  });
  return [[...SUBGRAPH_NAMES.map(subgraph), registry], [gateway], [bridge]];
}

function toSharedEnv({ LOG_LEVEL }: Config, { publicKeyFile, clientIdKeyFile }: PlanOptions['keys']): Record<string, string> {
  // No load balancer sends requests to these processes, so a stop need not wait for one.
  return { ...ALLOCATOR, DRAIN_DELAY_MS: '0', HOST, LOG_LEVEL, TOKEN_PUBLIC_KEY_FILE: publicKeyFile, CLIENT_ID_KEY_FILE: clientIdKeyFile };
}

/** Returns a function that plans a process of a folder, with an environment of its own beside the shared one. */
function createPlan({ root, isDevelopment }: Config, shared: Readonly<Record<string, string>>) {
  return (name: string, folder: string, { port, env }: { port: number; env: Record<string, string> }): ProcessPlan => ({
    name,
    args: [`--env-file=${join(root, NODE_OPTIONS_FILE)}`, join(root, folder, isDevelopment ? ENTRIES.modules : ENTRIES.bundle)],
    port,
    env: { ...shared, ...env },
  });
}

/** Returns a function that returns those of the named settings that are set. */
function createInherit({ inherited }: Config) {
  return (...names: Inherited[]): Record<string, string> =>
    Object.fromEntries(names.flatMap((name) => (inherited[name] === undefined ? [] : [[name, inherited[name]]])));
}

/** Files are kept beside the databases unless a setting names another place. */
function filesIn({ DATA_DIR }: Config): Record<string, string> {
  return { FILES_DIR: join(DATA_DIR, 'files') };
}

function addressOf(port: number, path: string): string {
  return `http://${HOST}:${String(port)}${path}`;
}

/** The registry publishes the subgraphs of `schema/` when its database is new. */
function toRegistryEnv(
  { REGISTRY_PORT }: Config,
  { databaseUrls, keys }: Pick<PlanOptions, 'databaseUrls' | 'keys'>,
): Record<string, string> {
  return {
    REGISTRY_PORT: String(REGISTRY_PORT),
    REGISTRY_DATABASE_URL: databaseUrls.registry,
    REGISTRY_SIGNING_KEY_FILE: keys.registrySigningKeyFile,
    REGISTRY_SEED: 'on',
  };
}

/** The users subgraph signs tokens and webhooks, and sends revocations to the other processes. Receivers of the demo run on this machine. */
function toUsersEnv(config: Config, keys: PlanOptions['keys']): Record<string, string> {
  return {
    TOKEN_PRIVATE_KEY_FILE: keys.privateKeyFile,
    API_KEY_SECRET_FILE: keys.apiKeySecretFile,
    WEBHOOK_KEY_FILE: keys.webhookKeyFile,
    ...(config.DEMO_DATA && { WEBHOOK_ALLOW_PRIVATE: 'on' }),
  };
}

/** Returns `text` without `end`, if it ends with that. */
function withoutEnd(text: string, end: string): string {
  return text.endsWith(end) ? text.slice(0, -end.length) : text;
}

function graphqlAt(port: number): string {
  return `http://${HOST}:${String(port)}/graphql`;
}
