/** The settings of `npm start`. */
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readSettings, setting } from '@trestle/env';
import { SUBGRAPHS, SUBGRAPH_NAMES, type SubgraphName, databaseSettingOf, portSettingOf } from '@trestle/schema/subgraphs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;

/** Each process must be told its neighbours' ports before they listen, so "any" is no answer here. */
const port = () => setting.port().refine((value) => value > 0, 'must be at least 1');
const databaseUrl = () => setting.url('postgres:', 'postgresql:').optional();

/** `USERS_PORT`, `USERS_DATABASE_URL` and so on: two settings for each subgraph. */
const subgraphPorts = Object.fromEntries(
  SUBGRAPH_NAMES.map((name) => [portSettingOf(name), port().default(SUBGRAPHS[name].port)] as const),
) as Record<ReturnType<typeof portSettingOf<SubgraphName>>, ReturnType<ReturnType<typeof port>['default']>>;
const subgraphDatabases = Object.fromEntries(SUBGRAPH_NAMES.map((name) => [databaseSettingOf(name), databaseUrl()] as const)) as Record<
  ReturnType<typeof databaseSettingOf<SubgraphName>>,
  ReturnType<typeof databaseUrl>
>;

export type Config = ReturnType<typeof readConfig>;

export function readConfig() {
  const settings = readSettings(
    {
      REST_PORT: port().default(3000),
      GATEWAY_PORT: port().default(4000),
      ...subgraphPorts,
      PG_PORT: port().default(54329),
      DATA_DIR: setting.text().default(resolve(ROOT, '.trestle')),
      ...subgraphDatabases,
      DEMO_DATA: setting.onOff().default(true),
      LOG_LEVEL: setting.choice(...LOG_LEVELS).default('info'),
    },
    process.env,
  );
  return {
    ...settings,
    DATA_DIR: resolve(settings.DATA_DIR),
    root: ROOT,
    inherited: readInherited(process.env),
    isUnderNpm: process.env['npm_lifecycle_event'] !== undefined,
  };
}

/** What processes get from our own environment, when it is set; all else of it stays with us. */
export const GATEWAY_SETTINGS = [
  ...([
    'SUPERGRAPH_FILE',
    'SUBGRAPH_TIMEOUT_MS',
    'GATEWAY_ENGINE',
    'FORWARD_HEADERS',
    'SIGN_IN_FIELDS',
    'OVERRIDE_LABELS',
    'GRAPHIQL',
    'OTEL_EXPORTER_OTLP_ENDPOINT',
  ] as const),
  ...(['TLS_CERT_FILE', 'TLS_KEY_FILE'] as const),
  ...(['MAX_DEPTH', 'MAX_ALIASES', 'MAX_ROOT_FIELDS', 'MAX_TOKENS', 'MAX_COST', 'MAX_BATCH'] as const),
  ...(['MAX_SUBSCRIPTIONS', 'MAX_SOCKETS', 'MAX_OPERATIONS_PER_SOCKET', 'MAX_MESSAGE_BYTES', 'CONNECTION_INIT_TIMEOUT_MS'] as const),
  ...(['PING_INTERVAL_MS', 'SLOW_CONSUMER', 'SLOW_CONSUMER_MESSAGES', 'SLOW_CONSUMER_BYTES'] as const),
  ...(['SUBSCRIPTION_RECONNECT_MS', 'SUBSCRIPTION_DRAIN_MS', 'REQUEST_DRAIN_MS'] as const),
  ...(['TRUSTED_DOCUMENTS_FILE', 'TRUSTED_DOCUMENTS_ONLY'] as const),
] as const;
export const BRIDGE_SETTINGS = [
  ...(['GATEWAY_TIMEOUT_MS', 'PUBLIC_URL', 'PUBLIC_GATEWAY_URL', 'API_VERSIONS_FILE', 'HEADERS_TIMEOUT_MS', 'REQUEST_TIMEOUT_MS'] as const),
  ...(['MAX_IN_FLIGHT', 'MAX_EVENT_LOOP_DELAY_MS', 'MAINTENANCE_FILE', 'TLS_CERT_FILE', 'TLS_KEY_FILE'] as const),
] as const;
const INHERITED = ['PATH', ...GATEWAY_SETTINGS, ...BRIDGE_SETTINGS] as const;
export type Inherited = (typeof INHERITED)[number];

function readInherited(env: Readonly<Record<string, string | undefined>>): Partial<Record<Inherited, string>> {
  return Object.fromEntries(INHERITED.flatMap((name) => (env[name] ? [[name, env[name]]] : [])));
}
