/** Declares the settings of the gateway: what each accepts, and its default. */
import { setting } from '@trestle/env';
import { verificationSettings } from '@trestle/identity/settings';
import { rateLimitSettings } from '@trestle/limits/settings';
import { LOG_FORMATS, LOG_LEVELS } from '@trestle/log';
import { MAX_AGE_SECONDS } from '@trestle/service/edge/cors';
import { edgeSettings } from '@trestle/service/edge/edge-settings';
import { parseVerificationKey } from '@trestle/schema/artifact';
import { serviceSettings } from '@trestle/service/settings';
import { telemetrySettings } from '@trestle/telemetry/settings';
import { DENIED_FIELD_MODES } from '../../access/denial.ts';
import { readPolicies } from '../../access/policies.ts';
import { CACHE_STORES } from '../../cache/create-cache.ts';
import { readSubscriptions } from '../../cache/events/read-subscriptions.ts';
import { CACHE_CONTENTS } from '../../cache/response-cache.ts';
import { SHARING_MODES } from '../../cache/sharing.ts';
import { readTrustedDocuments } from '../../documents/trusted.ts';
import { SUBGRAPH_ERROR_POLICIES } from '../../errors/format-error.ts';
import { SUBSCRIPTION_PROTOCOLS } from '../../upstream/subscriptions/subscription-upstream.ts';
import { EXECUTORS } from '../../execute/executor.ts';
import { mayForward } from '../../headers/header-names.ts';
import { isHeaderValue } from '../../headers/header-values.ts';
import { DEFAULT_LIMITS } from '../../limits/limits.ts';
import { parseRecordedNames } from '../../observability/recorded-headers.ts';
import { SLOW_POLICIES } from '../../transports/delivery/send-queue.ts';
import { cacheSettings, subgraphCacheSettings } from './cache-settings.ts';
import { errorSettings, subgraphErrorSettings } from './error-settings.ts';
import { limitSettings, subgraphListSize } from './limit-settings.ts';
import { readSubgraphUrls } from './read-subgraph-urls.ts';
import { signingSettings, subgraphSigningSettings } from './signing-settings.ts';
import { subgraphTrafficSettings, trafficSettings } from './traffic-settings.ts';
import { coprocessorSettings } from './coprocessor-settings.ts';
import { describeHeaderFault } from './describe-header-fault.ts';
import { parseHiveTarget } from './parse-hive-target.ts';
import { parseTokenSources } from './parse-token-sources.ts';
import { CLIENT_CERTIFICATES, readCertificates, readPrivateKey } from './pem.ts';
import { readGraphPath, readGraphqlPath, readProbePath } from './served-paths.ts';

/** Where a supergraph can come from. */
export const SOURCES = ['file', 'url', 'registry', 'hive', 'uplink'] as const;

/** Reads the name of an environment or a contract of the registry. */
const registryName = () =>
  setting.parsed((name) => {
    if (!/^[a-z][a-z0-9-]{0,63}$/.test(name)) throw new Error('must have 1 to 64 lower-case letters, digits and hyphens');
    return name;
  });

/** Both addresses serve the same graphs; the first is preferred. */
const UPLINK_ENDPOINTS = ['https://uplink.api.apollographql.com/', 'https://aws.uplink.api.apollographql.com/'];

/** Where GraphOS takes reports of usage. */
const GRAPHOS_REPORTS = 'https://usage-reporting.api.apollographql.com/api/ingress/traces';

/** Reads the names of headers, which have no case. */
const isHeaderName = (name: string) => /^[\w!#$%&'*+.^`|~-]{1,256}$/.test(name);
const headerNames = () => setting.list(mayForward, (name) => describeHeaderFault(name, 'forward')).default([]);

/** Reads addresses. */
const urls = () => setting.list(isHttpUrl, 'must be URLs that start with http:// or https://');

function isHttpUrl(item: string): boolean {
  return URL.canParse(item) && ['http:', 'https:'].includes(new URL(item).protocol);
}

/** Reads a value that is sent as a header, such as a key. */
const headerValue = () => setting.parsed(readHeaderValue);

function readHeaderValue(value: string): string {
  if (!isHeaderValue(value)) throw new Error('must have 1 to 8192 visible ASCII characters');
  return value;
}

/** Reads a key that clients send. */
const secretKey = () => setting.parsed(readSecretKey);

function readSecretKey(value: string): string {
  if (value.length < 32 || !isHeaderValue(value)) throw new Error('must have 32 to 8192 visible ASCII characters');
  return value;
}

/** Returns the name of a request header in lower case. Throws an Error for one that may not be forwarded. */
function readForwardedName(name: string): string {
  if (!mayForward(name)) throw new Error('must be the name of a header that may be forwarded');
  return name.toLowerCase();
}

/** Every setting of the gateway, by the name of its environment variable. `ENTRIES` has what a configuration file adds. */
export const settings = {
  ...serviceSettings,
  ...edgeSettings,
  CORS_REQUEST_HEADERS: setting.list(isHeaderName, 'must be names of headers').default([]),
  CORS_RESPONSE_HEADERS: setting.list(isHeaderName, 'must be names of headers').default([]),
  CORS_CREDENTIALS: setting.onOff().default(true),
  CORS_MAX_AGE_SECONDS: setting.integer(0, 86_400).default(MAX_AGE_SECONDS),
  ...rateLimitSettings,
  GATEWAY_PORT: setting.port().default(4000),
  PORT: setting.port().optional(),
  HOST: setting.string().default('127.0.0.1'),
  GATEWAY_MAX_EVENT_LOOP_DELAY_MS: setting.integer(10, 60_000).optional(),
  WORKERS: setting.integer(1, 64).default(1),
  LOG_LEVEL: setting.choice(...LOG_LEVELS).default('info'),
  LOG_FORMAT: setting.choice(...LOG_FORMATS).default('json'),
  GATEWAY_ENGINE: setting.choice('trestle', 'apollo').default('trestle'),
  EXECUTOR: setting.choice(...EXECUTORS).default('bytes'),
  OVERWRITE_MEMORY: setting.onOff().default(false),
  SUPERGRAPH_FILE: setting.path().optional(),
  SUPERGRAPH_PATH: setting.path().optional(),
  SUPERGRAPH_SOURCE: setting.choice(...SOURCES).optional(),
  SUPERGRAPH_URL: setting.url('http:', 'https:').optional(),
  SUPERGRAPH_POLL_INTERVAL_MS: setting.integer(100, 86_400_000).default(10_000),
  SUPERGRAPH_TIMEOUT_MS: setting.integer(100, 600_000).default(10_000),
  SUPERGRAPH_MAX_BYTES: setting.integer(1024, 268_435_456).default(16_777_216),
  SUPERGRAPH_CACHE_FILE: setting.path().optional(),
  WARM_UP_OPERATIONS: setting.integer(0, 2000).default(200),
  WARM_UP_TIMEOUT_MS: setting.integer(0, 600_000).default(30_000),
  CANARY_HEADER: setting.parsed(readForwardedName).optional(),
  CANARY_MIN_REQUESTS: setting.integer(10, 1_000_000).default(200),
  CANARY_ERROR_FACTOR: setting.number(1, 1000).default(2),
  CANARY_P95_FACTOR: setting.number(1, 1000).default(2),
  REGISTRY_URL: setting.url('http:', 'https:').optional(),
  REGISTRY_ENVIRONMENT: registryName().default('prod'),
  REGISTRY_CONTRACT: registryName().optional(),
  REGISTRY_TOKEN: headerValue().optional(),
  REGISTRY_PUBLIC_KEY_FILE: setting.parsedFile(parseVerificationKey).optional(),
  USAGE_REPORTS: setting.onOff().default(true),
  USAGE_INTERVAL_MS: setting.integer(100, 60_000).default(60_000),
  USAGE_MAX_BYTES: setting.integer(65_536, 1_073_741_824).default(16_777_216),
  HIVE_CDN_ENDPOINT: urls().default([]),
  HIVE_CDN_KEY: headerValue().optional(),
  HIVE_ACCESS_TOKEN: headerValue().optional(),
  HIVE_TARGET: setting.parsed(parseHiveTarget).optional(),
  HIVE_USAGE_ENDPOINT: setting.url('http:', 'https:').default('https://app.graphql-hive.com/usage'),
  HIVE_USAGE_SAMPLE_RATE: setting.number(0, 1).default(1),
  APOLLO_UPLINK_ENDPOINTS: urls().default(UPLINK_ENDPOINTS),
  APOLLO_GRAPH_REF: setting.string().optional(),
  APOLLO_KEY: headerValue().optional(),
  APOLLO_USAGE_REPORTS: setting.onOff().default(false),
  APOLLO_USAGE_REPORTING_INGRESS_URL: setting.url('http:', 'https:').default(GRAPHOS_REPORTS),
  SUBGRAPH_ERRORS: setting.choice(...SUBGRAPH_ERROR_POLICIES).optional(),
  ...errorSettings,
  RESPONSE_COMPRESSION: setting.onOff().default(true),
  REQUEST_READER: setting.choice('lean', 'node').default('lean'),
  UPSTREAM_COMPRESSION: setting.onOff().default(false),
  UPSTREAM_DEDUPLICATION: setting.onOff().default(false),
  SUBGRAPH_CA_FILE: setting.parsedFile(readCertificates).optional(),
  SUBGRAPH_CERT_FILE: setting.parsedFile(readCertificates).optional(),
  SUBGRAPH_KEY_FILE: setting.parsedFile(readPrivateKey).optional(),
  ...signingSettings,
  BATCH_ENTITIES: setting.onOff().default(true),
  ...trafficSettings,
  AUTH: setting.onOff().default(true),
  AUTH_REQUIRED: setting.onOff().default(false),
  TOKEN_SOURCES: setting.parsed(parseTokenSources, 'list').optional(),
  ...verificationSettings,
  REVOCATIONS_URL: setting.url('http:', 'https:').optional(),
  API_KEY_EXCHANGE_URL: setting.url('http:', 'https:').optional(),
  FORWARD_HEADERS: headerNames(),
  FORWARD_MUTATION_HEADERS: headerNames(),
  FORWARD_RESPONSE_HEADERS: headerNames(),
  POLICIES_FILE: setting.parsedFile(readPolicies).optional(),
  DENIED_FIELDS: setting.choice(...DENIED_FIELD_MODES).default(DEFAULT_LIMITS.deniedFields),
  SIGN_IN_FIELDS: setting.list().default(['login', 'completeLogin', 'refreshSession']),
  ...limitSettings,
  OPERATION_DEDUPLICATION: setting.onOff().default(false),
  OPERATION_TIMEOUT_MS: setting.integer(0, 600_000).default(DEFAULT_LIMITS.operationTimeoutMs),
  MAX_BATCH: setting.integer(1, 100).default(1),
  MAX_BODY_BYTES: setting.integer(1024, 67_108_864).default(1_048_576),
  MAX_UPLOAD_BYTES: setting.integer(1024, 2_147_483_647).default(104_857_600),
  AUTOMATIC_PERSISTED_QUERIES: setting.onOff().default(true),
  TRUSTED_DOCUMENTS_FILE: setting.parsedFile(readTrustedDocuments).optional(),
  TRUSTED_DOCUMENTS_ONLY: setting.onOff().default(false),
  TRUSTED_DOCUMENTS_REQUIRE_ID: setting.onOff().default(false),
  TRUSTED_DOCUMENTS_LOG_UNKNOWN: setting.onOff().default(false),
  HIVE_DOCUMENTS_ENDPOINT: urls().default([]),
  HIVE_DOCUMENTS_KEY: headerValue().optional(),
  HIVE_DOCUMENTS_TIMEOUT_MS: setting.integer(100, 60_000).default(5000),
  MCP: setting.onOff().default(false),
  MCP_CLIENT: setting.string().optional(),
  MCP_MUTATIONS: setting.onOff().default(false),
  MCP_REQUIRE_CREDENTIAL: setting.onOff().default(false),
  MCP_AUTHORIZATION_SERVERS: urls().default([]),
  RESPONSE_CACHE: setting.choice(...CACHE_STORES).default('off'),
  RESPONSE_CACHE_CONTENTS: setting.choice(...CACHE_CONTENTS).default('results'),
  RESPONSE_CACHE_BYTES: setting.integer(65_536, 17_179_869_184).default(67_108_864),
  RESPONSE_CACHE_SHARING: setting.choice(...SHARING_MODES).default('anonymous'),
  RESPONSE_CACHE_STALE_SECONDS: setting.integer(0, 86_400).default(0),
  RESPONSE_CACHE_TIMEOUT_MS: setting.integer(1, 10_000).default(100),
  ...cacheSettings,
  RESPONSE_CACHE_KEY: secretKey().optional(),
  RESPONSE_CACHE_SUBSCRIPTIONS_FILE: setting.parsedFile(readSubscriptions).optional(),
  RESPONSE_CACHE_SUBSCRIPTIONS_AUTHORIZATION: headerValue().optional(),
  SUBSCRIPTIONS: setting.onOff().default(DEFAULT_LIMITS.hasSubscriptions),
  MAX_SUBSCRIPTIONS: setting.integer(0, 1_000_000).default(20_000),
  MAX_SOCKETS: setting.integer(0, 1_000_000).default(20_000),
  MAX_OPERATIONS_PER_SOCKET: setting.integer(1, 10_000).default(100),
  MAX_MESSAGE_BYTES: setting.integer(1024, 16_777_216).default(1_048_576),
  CONNECTION_INIT_TIMEOUT_MS: setting.integer(100, 60_000).default(3000),
  PING_INTERVAL_MS: setting.integer(100, 600_000).default(12_000),
  SLOW_CONSUMER: setting.choice(...SLOW_POLICIES).default('close'),
  SLOW_CONSUMER_MESSAGES: setting.integer(1, 100_000).default(256),
  SLOW_CONSUMER_BYTES: setting.integer(1024, 67_108_864).default(1_048_576),
  SLOW_CONSUMER_TIMEOUT_MS: setting.integer(100, 600_000).default(10_000),
  SLOW_CONSUMER_TOTAL_BYTES: setting.integer(1_048_576, 17_179_869_184).default(134_217_728),
  SUBSCRIPTION_RECONNECT_MS: setting.integer(0, 600_000).default(30_000),
  REQUEST_DRAIN_MS: setting.integer(0, 600_000).default(1500),
  SUBSCRIPTION_CALLBACK_URL: setting.url('http:', 'https:').optional(),
  SUBSCRIPTION_CALLBACK_PORT: setting.port().optional(),
  SUBSCRIPTION_CALLBACK_HEARTBEAT_MS: setting.integer(100, 600_000).default(5000),
  SUBSCRIPTION_DRAIN_MS: setting.integer(0, 600_000).default(1000),
  OTEL_INSTRUMENTATION_HTTP_CAPTURE_HEADERS_SERVER_REQUEST: setting.parsed(parseRecordedNames, 'list').default([]),
  OVERRIDE_LABELS: setting.list().default([]),
  OVERRIDE_LABELS_HEADER: setting.parsed(readForwardedName).optional(),
  EXTENSIONS_FILE: setting.path().optional(),
  EXTENSION_TIMEOUT_MS: setting.integer(1, 60_000).default(1000),
  ...coprocessorSettings,
  GRAPHQL_PATH: setting.parsed(readGraphqlPath).default('/graphql'),
  LIVENESS_PATH: setting.parsed(readProbePath).optional(),
  READINESS_PATH: setting.parsed(readProbePath).optional(),
  GRAPHIQL: setting.onOff().default(true),
  ...telemetrySettings,
  TLS_CERT_FILE: setting.file().optional(),
  TLS_KEY_FILE: setting.file().optional(),
  TLS_CLIENT_CA_FILE: setting.parsedFile(readCertificates).optional(),
  TLS_CLIENT_CERTIFICATE: setting.choice(...CLIENT_CERTIFICATES).optional(),
  TLS_CLIENT_SUBJECT_HEADER: setting.parsed(readForwardedName).optional(),
  TRESTLE_CONFIG: setting.path().optional(),
};

/** The settings of one subgraph: the key in a configuration file, and the prefix of its environment variable, which ends with the subgraph's name. */
export const subgraphSettings = {
  url: { prefix: 'SUBGRAPH_URL_', reader: setting.url('http:', 'https:', 'unix:') },
  urls: { prefix: 'SUBGRAPH_URLS_', reader: setting.parsed(readSubgraphUrls, 'list') },
  subscriptionUrl: { prefix: 'SUBGRAPH_WS_URL_', reader: setting.url('ws:', 'wss:', 'http:', 'https:', 'unix:') },
  subscriptionProtocol: { prefix: 'SUBGRAPH_SUBSCRIPTION_PROTOCOL_', reader: setting.choice(...SUBSCRIPTION_PROTOCOLS) },
  errors: { prefix: 'SUBGRAPH_ERRORS_', reader: setting.choice(...SUBGRAPH_ERROR_POLICIES) },
  'tls.caFile': { prefix: 'SUBGRAPH_CA_FILE_', reader: setting.parsedFile(readCertificates) },
  'tls.certificateFile': { prefix: 'SUBGRAPH_CERT_FILE_', reader: setting.parsedFile(readCertificates) },
  'tls.keyFile': { prefix: 'SUBGRAPH_KEY_FILE_', reader: setting.parsedFile(readPrivateKey) },
  ...subgraphSigningSettings,
  'limits.assumedListSize': subgraphListSize,
  ...subgraphTrafficSettings,
  ...subgraphCacheSettings,
  ...subgraphErrorSettings,
} as const;

/** A header of requests to `supergraph.url`: the prefix of its environment variable, which ends with its name. There `_` stands for `-`. */
export const sourceHeader = { prefix: 'SUPERGRAPH_HEADER_', reader: headerValue() } as const;

const HOST = /^(?=.{1,253}$)[a-z\d-]{1,63}(?:\.[a-z\d-]{1,63})*$/i;

/** The settings of one of several graphs: the key in a configuration file, and the prefix of its environment variable, which ends with the graph's name. */
export const graphSettings = {
  config: { prefix: 'GRAPH_CONFIG_', reader: setting.path() },
  path: { prefix: 'GRAPH_PATH_', reader: setting.parsed(readGraphPath) },
  hosts: { prefix: 'GRAPH_HOSTS_', reader: setting.list((host) => HOST.test(host), 'must be names of hosts, without a port') },
} as const;
