/** The settings of the gateway: from the command line, else from the environment. */
import { existsSync } from 'node:fs';
import { SettingsError, readFamily, readSettings, readTls, setting } from '@trestle/env';
import { readPolicies as readAccessPolicies } from './access/policies.ts';
import { verificationSettings } from '@trestle/identity/settings';
import { requireTokenKeys } from '@trestle/identity/verification';
import { rateLimitSettings } from '@trestle/limits/settings';
import { LOG_LEVELS } from '@trestle/log';
import { schemaPath } from '@trestle/schema/sdl';
import { edgeSettings } from '@trestle/service/edge-settings';
import { serviceSettings } from '@trestle/service/settings';
import { readFlags } from './command-line.ts';
import { readTrustedDocuments } from './documents/trusted.ts';
import { SUBGRAPH_ERROR_POLICIES, type SubgraphErrorPolicy } from './errors/format-error.ts';
import { EXECUTORS } from './execute/executor.ts';
import { DEFAULT_LIMITS } from './limits/limits.ts';
import { SLOW_POLICIES } from './transports/delivery/send-queue.ts';
import { UPSTREAM_CLIENTS } from './upstream/upstream.ts';

/** Headers that belong to one connection or one message, and those that the gateway sets itself. */
const NEVER_FORWARDED = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'host', 'expect'],
  ...['content-length', 'content-type', 'content-encoding', 'authorization', 'x-api-key', 'x-request-id', 'trestle-client'],
]);

/** Reads the names of headers, separated by commas or spaces. */
function headerNames() {
  return setting
    .string()
    .default('')
    .transform((text) => readList(text).map((name) => name.toLowerCase()))
    .refine((names) => names.every((name) => /^[\w!#$%&'*+.^`|~-]+$/.test(name) && !NEVER_FORWARDED.has(name)), {
      message: 'must be names of headers that may be forwarded',
    });
}

/** Every setting of the gateway. */
const declareSettings = () => ({
  ...serviceSettings,
  ...edgeSettings,
  ...rateLimitSettings,
  GATEWAY_PORT: setting.port().default(4000),
  PORT: setting.port().optional(),
  HOST: setting.string().default('127.0.0.1'),
  LOG_LEVEL: setting.choice(...LOG_LEVELS).default('info'),
  GATEWAY_ENGINE: setting.choice('trestle', 'apollo').default('trestle'),
  EXECUTOR: setting.choice(...EXECUTORS).default('bytes'),
  SUPERGRAPH_FILE: setting.string().optional(),
  SUPERGRAPH_PATH: setting.string().optional(),
  SUBGRAPH_ERRORS: setting.choice(...SUBGRAPH_ERROR_POLICIES).optional(),
  UPSTREAM_CLIENT: setting.choice(...UPSTREAM_CLIENTS).default('lean'),
  UPSTREAM_COMPRESSION: setting.onOff().default(false),
  SUBGRAPH_TIMEOUT_MS: setting.integer(100, 300_000).default(10_000),
  AUTH: setting.onOff().default(true),
  ...verificationSettings,
  REVOCATIONS_URL: setting.url('http:', 'https:').optional(),
  API_KEY_EXCHANGE_URL: setting.url('http:', 'https:').optional(),
  FORWARD_HEADERS: headerNames(),
  FORWARD_MUTATION_HEADERS: headerNames(),
  FORWARD_RESPONSE_HEADERS: headerNames(),
  POLICIES_FILE: setting.parsedFile(readAccessPolicies).optional(),
  SIGN_IN_FIELDS: setting.string().default('login,completeLogin,refreshSession'),
  MAX_DEPTH: setting.integer(1, 1000).default(DEFAULT_LIMITS.maxDepth),
  MAX_ALIASES: setting.integer(0, 10_000).default(DEFAULT_LIMITS.maxAliases),
  MAX_ROOT_FIELDS: setting.integer(1, 10_000).default(DEFAULT_LIMITS.maxRootFields),
  MAX_SELECTIONS: setting.integer(10, 100_000).default(DEFAULT_LIMITS.maxSelections),
  MAX_INPUT_DEPTH: setting.integer(1, 200).default(DEFAULT_LIMITS.maxInputDepth),
  INTROSPECTION: setting.onOff().default(DEFAULT_LIMITS.hasIntrospection),
  MAX_TOKENS: setting.integer(10, 1_000_000).default(DEFAULT_LIMITS.maxTokens),
  MAX_COST: setting.integer(1, 1_000_000_000).default(DEFAULT_LIMITS.maxCost),
  MAX_RESPONSE_BYTES: setting.integer(65_536, 268_435_456).default(DEFAULT_LIMITS.maxResponseBytes),
  MAX_BATCH: setting.integer(1, 100).default(1),
  MAX_UPLOAD_BYTES: setting.integer(1024, 2_147_483_647).default(104_857_600),
  TRUSTED_DOCUMENTS_FILE: setting.parsedFile(readTrustedDocuments).optional(),
  TRUSTED_DOCUMENTS_ONLY: setting.onOff().default(false),
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
  SUBSCRIPTION_DRAIN_MS: setting.integer(0, 600_000).default(1000),
  OVERRIDE_LABELS: setting.string().default(''),
  GRAPHIQL: setting.onOff().default(true),
  OTEL_EXPORTER_OTLP_ENDPOINT: setting.url('http:', 'https:').optional(),
  TLS_CERT_FILE: setting.file().optional(),
  TLS_KEY_FILE: setting.file().optional(),
});

/** Reads the settings. `args` are those after the program's name. Throws SettingsError that names every invalid value. */
export function readConfig(args: readonly string[] = process.argv.slice(2), environment: NodeJS.ProcessEnv = process.env) {
  const env = { ...environment, ...readFlags(args) };
  const settings = readSettings(declareSettings(), env);
  // Credentials cannot be checked without keys.
  if (settings.AUTH) requireTokenKeys(settings);
  return {
    ...settings,
    tls: readTls(settings),
    // Without credentials there are addresses only, and the gateway may not be the one that clients reach.
    hasRateLimits: settings.AUTH || Boolean(env['RATE_LIMIT_ANONYMOUS_PER_MIN']),
    subgraphUrls: readFamily('SUBGRAPH_URL_', env),
    subgraphSubscriptionUrls: readFamily('SUBGRAPH_WS_URL_', env),
    // Without our credentials the subgraphs are not ours, and clients know the codes of their own subgraphs.
    subgraphErrors: settings.SUBGRAPH_ERRORS ?? (settings.AUTH ? 'mask' : 'pass'),
    subgraphErrorsByName: readPolicies(env),
    port: settings.PORT ?? settings.GATEWAY_PORT,
    supergraphFile: settings.SUPERGRAPH_PATH ?? settings.SUPERGRAPH_FILE ?? findCheckedInSupergraph(),
    signInFields: new Set(readList(settings.SIGN_IN_FIELDS)),
    forwardHeaders: settings.FORWARD_HEADERS,
    forwardMutationHeaders: settings.FORWARD_MUTATION_HEADERS,
    forwardResponseHeaders: settings.FORWARD_RESPONSE_HEADERS,
    labels: readList(settings.OVERRIDE_LABELS),
    sockets: {
      maxSockets: settings.MAX_SOCKETS,
      maxOperations: settings.MAX_OPERATIONS_PER_SOCKET,
      maxMessageBytes: settings.MAX_MESSAGE_BYTES,
      initTimeoutMs: settings.CONNECTION_INIT_TIMEOUT_MS,
      pingIntervalMs: settings.PING_INTERVAL_MS,
      closeTimeoutMs: settings.SLOW_CONSUMER_TIMEOUT_MS,
      queue: { policy: settings.SLOW_CONSUMER, maxMessages: settings.SLOW_CONSUMER_MESSAGES, maxBytes: settings.SLOW_CONSUMER_BYTES },
    },
    sendBuffers: { maxBytes: settings.SLOW_CONSUMER_TOTAL_BYTES, stallTimeoutMs: settings.SLOW_CONSUMER_TIMEOUT_MS },
    subscriptions: { maxSubscriptions: settings.MAX_SUBSCRIPTIONS, reconnectMs: settings.SUBSCRIPTION_RECONNECT_MS },
    limits: {
      maxDepth: settings.MAX_DEPTH,
      maxAliases: settings.MAX_ALIASES,
      maxRootFields: settings.MAX_ROOT_FIELDS,
      maxSelections: settings.MAX_SELECTIONS,
      maxInputDepth: settings.MAX_INPUT_DEPTH,
      hasIntrospection: settings.INTROSPECTION,
      maxTokens: settings.MAX_TOKENS,
      maxCost: settings.MAX_COST,
      maxResponseBytes: settings.MAX_RESPONSE_BYTES,
    },
  };
}

/** Returns the path of the repository's own supergraph. Throws SettingsError outside the repository. */
function findCheckedInSupergraph(): string {
  const file = schemaPath('supergraph.graphql');
  if (!existsSync(file)) throw new SettingsError('SUPERGRAPH_PATH: no supergraph is given. Name its file with --supergraph.');
  return file;
}

/** Reads the policies by the subgraph's name. Throws SettingsError that names every invalid value. */
function readPolicies(env: Readonly<Record<string, string | undefined>>): Map<string, SubgraphErrorPolicy> {
  const prefix = 'SUBGRAPH_ERRORS_';
  const policies = new Map<string, SubgraphErrorPolicy>();
  const bad: string[] = [];
  for (const [name, value] of readFamily(prefix, env)) {
    const policy = SUBGRAPH_ERROR_POLICIES.find((each) => each === value);
    if (policy) policies.set(name, policy);
    else bad.push(`${prefix}${name.toUpperCase()}: must be one of ${SUBGRAPH_ERROR_POLICIES.join(', ')}`);
  }
  if (bad.length > 0) throw new SettingsError(bad.join('\n'));
  return policies;
}

/** Splits names that are separated by commas or spaces. */
function readList(text: string): string[] {
  return text.split(/[\s,]+/).filter((name) => name !== '');
}

/** Stops @apollo/gateway from reporting to its vendor every hour. Must be called before it is created. */
export function silenceVendorTelemetry(): void {
  process.env['APOLLO_TELEMETRY_DISABLED'] = 'true';
}
