/** Reads the settings of `npm start`. */
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readSettings, setting } from '@trestle/env';
import { LOG_LEVELS } from '@trestle/log';
import { SUBGRAPHS, SUBGRAPH_NAMES, type SubgraphName, databaseSettingOf, portSettingOf } from '@trestle/schema/subgraphs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Ports are passed to other processes before a process listens, so 0 ("any free port") is not allowed here. */
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

/** Holds the settings of `npm start`. */
export type Config = ReturnType<typeof readConfig>;

/** Reads the settings from `env`. Throws a SettingsError that names every invalid setting. */
export function readConfig(env: Readonly<Record<string, string | undefined>> = process.env) {
  const settings = readSettings(
    {
      REST_PORT: port().default(3000),
      GATEWAY_PORT: port().default(4000),
      REGISTRY_PORT: port().default(4005),
      ...subgraphPorts,
      PG_PORT: port().default(54329),
      DATA_DIR: setting.string().default(resolve(ROOT, '.trestle')),
      ...subgraphDatabases,
      REGISTRY_DATABASE_URL: databaseUrl(),
      DEMO_DATA: setting.onOff().default(true),
      LOG_LEVEL: setting.choice(...LOG_LEVELS).default('info'),
    },
    env,
  );
  return {
    ...settings,
    DATA_DIR: resolve(settings.DATA_DIR),
    root: ROOT,
    inherited: readInherited(env),
    subgraphSettings: readSubgraphSettings(env),
    isUnderNpm: env['npm_lifecycle_event'] !== undefined,
    /** Whether this is `npm run dev`. */
    isDevelopment: process.argv.includes('--watch'),
  };
}

/** Settings that `npm start` passes on from its environment to every process. Processes inherit no other variables; `passed-settings.test.ts` compares. */
const SERVICE_SETTINGS = [
  ...([
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    'OTEL_PROPAGATORS',
    'OTEL_TRACES_SAMPLER',
    'OTEL_TRACES_SAMPLER_ARG',
    'OTEL_METRICS_EXPORTER',
  ] as const),
  ...([
    'OTEL_METRIC_EXPORT_INTERVAL',
    'OTEL_LOGS_EXPORTER',
    'OTEL_RESOURCE_ATTRIBUTES',
    'OTEL_EXPORTER_OTLP_PROTOCOL',
    'OTEL_EXPORTER_OTLP_HEADERS',
    'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
    'OTEL_EXPORTER_OTLP_METRICS_ENDPOINT',
    'OTEL_EXPORTER_OTLP_LOGS_ENDPOINT',
    'HEADERS_TIMEOUT_MS',
    'REQUEST_TIMEOUT_MS',
    'UPLOAD_TIMEOUT_MS',
    'KEEP_ALIVE_TIMEOUT_MS',
  ] as const),
  ...(['MIN_BODY_BYTES_PER_SECOND', 'BODY_GRACE_MS', 'WRITE_TIMEOUT_MS', 'MAX_RECEIVING_BYTES', 'MAX_SENDING_BYTES'] as const),
  ...(['MAX_CONNECTIONS', 'MAX_CONNECTIONS_PER_ADDRESS', 'DRAIN_DELAY_MS', 'TRUSTED_ISSUERS_FILE'] as const),
] as const;
/** Settings of the processes that clients reach. */
const EDGE_SETTINGS = [
  ...(['CORS_ORIGINS', 'TRUSTED_PROXIES', 'REDIS_URL'] as const),
  ...(['RATE_LIMIT_ANONYMOUS_PER_MIN', 'RATE_LIMIT_FREE_PER_MIN', 'RATE_LIMIT_PRO_PER_MIN'] as const),
] as const;
/** Names the settings that are passed on to each subgraph. */
export const SUBGRAPH_SETTINGS = [
  ...SERVICE_SETTINGS,
  ...(['DATABASE_CONNECTIONS', 'DATABASE_CONNECT_TIMEOUT_MS', 'DATABASE_STATEMENT_TIMEOUT_MS', 'DATABASE_LOCK_TIMEOUT_MS'] as const),
  ...(['MUTATION_TIMEOUT_MS', 'EVENTS_RETENTION_HOURS', 'JOB_HEARTBEAT_MS', 'NATS_URL', 'NATS_PREFIX'] as const),
] as const;
/** Names the settings that are passed on to the registry. */
export const REGISTRY_SETTINGS = [
  ...SERVICE_SETTINGS,
  ...(['DATABASE_CONNECTIONS', 'REGISTRY_USAGE_DAYS', 'REGISTRY_CHECK_DAYS', 'REGISTRY_CHECK_ENOUGH_DAYS'] as const),
  ...(['REGISTRY_CHECK_ENOUGH_REQUESTS', 'REGISTRY_CHECK_MAX_COST', 'REGISTRY_CHECK_ASSUMED_LIST_SIZE'] as const),
] as const;
/** Names the settings that are passed on to the users subgraph besides. */
export const USERS_SETTINGS = [
  ...(['SECURITY_EVENTS_RETENTION_DAYS', 'REQUIRE_ADMIN_SECOND_FACTOR', 'SMTP_URL', 'MAIL_FROM'] as const),
  ...(['WEBHOOK_ALLOW_PRIVATE', 'WEBHOOK_RETRY_SECONDS', 'WEBHOOK_DISABLE_AFTER_HOURS'] as const),
] as const;
/** Names the settings that are passed on to the content subgraph besides. */
export const CONTENT_SETTINGS = [
  ...(['MAX_UPLOAD_BYTES', 'UPLOADS_PER_ACCOUNT', 'UPLOADS_TOTAL_BYTES', 'UPLOADS_EXPIRE_AFTER_SECONDS'] as const),
] as const;
/** Names the settings that are passed on to the subgraphs that keep files. */
export const FILE_SETTINGS = [
  ...(['FILES_SWEEP_AFTER_SECONDS', 'S3_BUCKET', 'S3_REGION', 'S3_ENDPOINT', 'S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY'] as const),
  'FILES_DIR',
] as const;
/** Names the settings that are passed on to the gateway. */
export const GATEWAY_SETTINGS = [
  ...SERVICE_SETTINGS,
  ...EDGE_SETTINGS,
  ...([
    'SUPERGRAPH_FILE',
    'SUPERGRAPH_PATH',
    'SUPERGRAPH_CACHE_FILE',
    'WARM_UP_OPERATIONS',
    'WARM_UP_TIMEOUT_MS',
    'CANARY_HEADER',
    'CANARY_MIN_REQUESTS',
    'CANARY_ERROR_FACTOR',
    'CANARY_P95_FACTOR',
    'REGISTRY_URL',
    'REGISTRY_ENVIRONMENT',
    'REGISTRY_CONTRACT',
    'REGISTRY_TOKEN',
    'REGISTRY_PUBLIC_KEY_FILE',
    'USAGE_REPORTS',
    'USAGE_INTERVAL_MS',
    'USAGE_MAX_BYTES',
    'SUBGRAPH_TIMEOUT_MS',
    'SUBGRAPH_CA_FILE',
    'SUBGRAPH_CERT_FILE',
    'SUBGRAPH_KEY_FILE',
    'TLS_CLIENT_CA_FILE',
    'TLS_CLIENT_CERTIFICATE',
    'TLS_CLIENT_SUBJECT_HEADER',
    'SUBGRAPH_MAX_CONNECTIONS',
    'SUBGRAPH_IDLE_TIMEOUT_MS',
    'SUBGRAPH_RETRY_PERCENT',
    'SUBGRAPH_RETRY_STATUSES',
    'SUBGRAPH_BREAKER_FAILURES',
    'SUBGRAPH_BREAKER_OPEN_MS',
    'SUBGRAPH_EJECTION_FAILURES',
    'SUBGRAPH_EJECTION_MS',
    'SUBGRAPH_REQUESTS_PER_SECOND',
    'SUBGRAPH_MAX_RESPONSE_BYTES',
    'SUBGRAPH_PERSISTED_QUERIES',
    'GATEWAY_MAX_EVENT_LOOP_DELAY_MS',
    'GATEWAY_ENGINE',
    'WORKERS',
    'AUTH',
    'AUTH_REQUIRED',
    'TOKEN_SOURCES',
    'OTEL_INSTRUMENTATION_HTTP_CAPTURE_HEADERS_SERVER_REQUEST',
    'CORS_REQUEST_HEADERS',
    'CORS_RESPONSE_HEADERS',
    'CORS_CREDENTIALS',
    'CORS_MAX_AGE_SECONDS',
    'FORWARD_HEADERS',
    'FORWARD_MUTATION_HEADERS',
    'FORWARD_RESPONSE_HEADERS',
    'POLICIES_FILE',
    'DENIED_FIELDS',
    'SIGN_IN_FIELDS',
  ] as const),
  ...(['OVERRIDE_LABELS', 'OVERRIDE_LABELS_HEADER', 'GRAPHIQL', 'INTROSPECTION', 'MUTATIONS', 'TLS_CERT_FILE', 'TLS_KEY_FILE'] as const),
  ...(['GRAPHQL_PATH', 'LIVENESS_PATH', 'READINESS_PATH'] as const),
  ...(['MAX_DEPTH', 'MAX_ALIASES', 'MAX_ROOT_FIELDS', 'MAX_SELECTIONS', 'MAX_DEFERRED'] as const),
  ...(['MAX_INPUT_DEPTH', 'MAX_TOKENS', 'LIMITS_MODE', 'MAX_COST', 'ASSUMED_LIST_SIZE', 'COST_MODE'] as const),
  ...(['MAX_RESPONSE_BYTES', 'OPERATION_TIMEOUT_MS', 'MAX_BATCH', 'MAX_BODY_BYTES', 'RESPONSE_COMPRESSION', 'MAX_UPLOAD_BYTES'] as const),
  ...([
    'SUBSCRIPTIONS',
    'MAX_SUBSCRIPTIONS',
    'MAX_SOCKETS',
    'MAX_OPERATIONS_PER_SOCKET',
    'MAX_MESSAGE_BYTES',
    'CONNECTION_INIT_TIMEOUT_MS',
  ] as const),
  ...(['PING_INTERVAL_MS', 'SLOW_CONSUMER', 'SLOW_CONSUMER_MESSAGES', 'SLOW_CONSUMER_BYTES'] as const),
  ...(['SLOW_CONSUMER_TIMEOUT_MS', 'SLOW_CONSUMER_TOTAL_BYTES', 'SUBSCRIPTION_RECONNECT_MS', 'SUBSCRIPTION_DRAIN_MS'] as const),
  ...(['SUBSCRIPTION_CALLBACK_URL', 'SUBSCRIPTION_CALLBACK_PORT', 'SUBSCRIPTION_CALLBACK_HEARTBEAT_MS'] as const),
  ...([
    'SUBGRAPH_ERRORS',
    'SUBGRAPH_ERROR_EXTENSIONS_ALLOW',
    'SUBGRAPH_ERROR_EXTENSIONS_DENY',
    'REQUEST_READER',
    'REQUEST_DRAIN_MS',
    'EXECUTOR',
    'OVERWRITE_MEMORY',
    'UPSTREAM_CLIENT',
    'UPSTREAM_COMPRESSION',
    'UPSTREAM_DEDUPLICATION',
    'OPERATION_DEDUPLICATION',
    'BATCH_ENTITIES',
  ] as const),
  ...([
    'AUTOMATIC_PERSISTED_QUERIES',
    'TRUSTED_DOCUMENTS_FILE',
    'TRUSTED_DOCUMENTS_ONLY',
    'TRUSTED_DOCUMENTS_REQUIRE_ID',
    'TRUSTED_DOCUMENTS_LOG_UNKNOWN',
  ] as const),
  ...(['HIVE_DOCUMENTS_ENDPOINT', 'HIVE_DOCUMENTS_KEY', 'HIVE_DOCUMENTS_TIMEOUT_MS'] as const),
  ...(['MCP', 'MCP_CLIENT', 'MCP_MUTATIONS', 'MCP_REQUIRE_CREDENTIAL', 'MCP_AUTHORIZATION_SERVERS'] as const),
  ...([
    'RESPONSE_CACHE',
    'RESPONSE_CACHE_CONTENTS',
    'RESPONSE_CACHE_BYTES',
    'RESPONSE_CACHE_SHARING',
    'RESPONSE_CACHE_STALE_SECONDS',
    'SUBGRAPH_CACHE_ENABLED',
    'SUBGRAPH_CACHE_TTL_SECONDS',
    'RESPONSE_CACHE_TIMEOUT_MS',
    'RESPONSE_CACHE_KEY',
    'RESPONSE_CACHE_SUBSCRIPTIONS_FILE',
    'RESPONSE_CACHE_SUBSCRIPTIONS_AUTHORIZATION',
  ] as const),
  ...(['EXTENSIONS_FILE', 'EXTENSION_TIMEOUT_MS', 'COPROCESSOR_URL', 'COPROCESSOR_STAGES', 'COPROCESSOR_HEADERS'] as const),
] as const;
/** Names the settings that are passed on to the REST bridge. */
export const BRIDGE_SETTINGS = [
  ...SERVICE_SETTINGS,
  ...EDGE_SETTINGS,
  ...(['GATEWAY_TIMEOUT_MS', 'PUBLIC_URL', 'PUBLIC_GATEWAY_URL', 'PUBLIC_REGISTRY_URL', 'API_VERSIONS_FILE', 'MAX_UPLOAD_BYTES'] as const),
  ...(['REQUEST_READER', 'MAX_IN_FLIGHT', 'MAX_EVENT_LOOP_DELAY_MS', 'MAINTENANCE_FILE', 'TLS_CERT_FILE', 'TLS_KEY_FILE'] as const),
] as const;
const INHERITED = [
  ...(['PATH', ...SUBGRAPH_SETTINGS, ...USERS_SETTINGS, ...CONTENT_SETTINGS] as const),
  ...([...FILE_SETTINGS, ...REGISTRY_SETTINGS, ...GATEWAY_SETTINGS, ...BRIDGE_SETTINGS] as const),
] as const;
/** Names one variable that processes inherit. */
export type Inherited = (typeof INHERITED)[number];

function readInherited(env: Readonly<Record<string, string | undefined>>): Partial<Record<Inherited, string>> {
  return Object.fromEntries(INHERITED.flatMap((name) => (env[name] ? [[name, env[name]]] : [])));
}

/** Settings of the gateway that have a value for each subgraph: `SUBGRAPH_URL_<NAME>`. Some have one for all of them too, without a name. */
const SETTINGS_OF_SUBGRAPHS = [
  ...([
    'SUBGRAPH_URL',
    'SUBGRAPH_URLS',
    'SUBGRAPH_WS_URL',
    'SUBGRAPH_SUBSCRIPTION_PROTOCOL',
    'SUBGRAPH_ERRORS',
    'SUBGRAPH_TIMEOUT_MS',
    'UPSTREAM_CLIENT',
  ] as const),
  ...(['SUBGRAPH_CA_FILE', 'SUBGRAPH_CERT_FILE', 'SUBGRAPH_KEY_FILE'] as const),
  ...(['SUBGRAPH_MAX_CONNECTIONS', 'SUBGRAPH_RETRY_PERCENT', 'SUBGRAPH_RETRY_STATUSES', 'SUBGRAPH_PERSISTED_QUERIES'] as const),
  ...(['SUBGRAPH_REQUESTS_PER_SECOND', 'SUBGRAPH_MAX_RESPONSE_BYTES'] as const),
  ...(['SUBGRAPH_IDLE_TIMEOUT_MS', 'SUBGRAPH_ERROR_EXTENSIONS_ALLOW', 'SUBGRAPH_ERROR_EXTENSIONS_DENY'] as const),
  ...(['SUBGRAPH_CACHE_ENABLED', 'SUBGRAPH_CACHE_TTL_SECONDS'] as const),
  ...(['SUBGRAPH_BREAKER_FAILURES', 'SUBGRAPH_BREAKER_OPEN_MS', 'SUBGRAPH_EJECTION_FAILURES', 'SUBGRAPH_EJECTION_MS'] as const),
] as const;

/** Returns whether a setting is that of a single subgraph. */
function isOfSubgraph(name: string): boolean {
  return SETTINGS_OF_SUBGRAPHS.some((each) => name.startsWith(`${each}_`));
}

/** Reads the settings of single subgraphs, such as `SUBGRAPH_URL_<NAME>`. A name may be that of a subgraph that runs elsewhere. */
function readSubgraphSettings(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const given = Object.entries(env).flatMap(([name, value]) => (isOfSubgraph(name) && value ? [[name, value]] : []));
  return Object.fromEntries(given) as Record<string, string>;
}
