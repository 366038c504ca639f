/** The entries of all settings that a file can hold. */
import { type Entry, type FileSettingName, atOnce, atStart } from './entry.ts';
import { LIMIT_ENTRIES } from './limit-entries.ts';
import { PROCESS_ENTRIES } from './process-entries.ts';
import { TRAFFIC_ENTRIES } from './traffic-entries.ts';

/** By the names of their environment variables. */
export const ENTRIES: Readonly<Record<FileSettingName, Entry>> = {
  ...PROCESS_ENTRIES,
  SUPERGRAPH_FILE: atStart('supergraph.file', 'The supergraph to serve. A changed file is loaded without a restart.', {
    flag: 'supergraph',
    stronger: 'SUPERGRAPH_PATH',
    otherwise: 'another source is needed; in a clone of the repository, its own supergraph is served',
  }),
  SUPERGRAPH_SOURCE: atStart('supergraph.source', 'Where the supergraph comes from, when several sources have settings.', {
    otherwise: 'the only source that has settings',
  }),
  SUPERGRAPH_URL: atStart('supergraph.url', 'The address of the supergraph, which is polled.'),
  SUPERGRAPH_POLL_INTERVAL_MS: atStart('supergraph.pollIntervalMs', 'The interval at which a source other than a file is read.'),
  SUPERGRAPH_TIMEOUT_MS: atStart('supergraph.timeoutMs', 'The time limit of a request to a source.'),
  SUPERGRAPH_MAX_BYTES: atStart('supergraph.maxBytes', 'Bytes of a response of a source.'),
  SUPERGRAPH_CACHE_FILE: atStart('supergraph.cacheFile', 'Where the last supergraph is kept, for a start while its source is down.', {
    otherwise: 'a start fails while the source is down',
  }),
  WARM_UP_OPERATIONS: atStart(
    'supergraph.warmUp.operations',
    'The most used operations that are planned before a new supergraph is served.',
  ),
  WARM_UP_TIMEOUT_MS: atStart('supergraph.warmUp.timeoutMs', 'The time limit of planning them.'),
  CANARY_HEADER: atStart('supergraph.canary.header', 'The request header by whose value clients are in the share of a canary, or not.', {
    otherwise: 'the subject of the token decides, else the address of the client',
  }),
  CANARY_MIN_REQUESTS: atStart('supergraph.canary.minRequests', 'How many requests of each launch are compared at a time.'),
  CANARY_ERROR_FACTOR: atStart(
    'supergraph.canary.errorFactor',
    'A canary ends when its error rate is that of the current launch times this.',
  ),
  CANARY_P95_FACTOR: atStart(
    'supergraph.canary.p95Factor',
    'A canary ends when its 95th percentile is that of the current launch times this.',
  ),
  REGISTRY_URL: atStart('supergraph.registry.url', "The address of Trestle's registry, which is polled."),
  REGISTRY_ENVIRONMENT: atStart('supergraph.registry.environment', 'The environment of the registry.'),
  REGISTRY_CONTRACT: atStart('supergraph.registry.contract', 'The contract of the environment; default: the whole graph.'),
  REGISTRY_TOKEN: atStart('supergraph.registry.token', 'A token of the registry that may read the environment.'),
  REGISTRY_PUBLIC_KEY_FILE: atStart('supergraph.registry.publicKeyFile', 'The Ed25519 public key (PEM) of the signatures of the registry.'),
  HIVE_CDN_ENDPOINT: atStart('supergraph.hive.endpoints', 'The endpoint of a target on the CDN of Hive, and those of mirrors.'),
  HIVE_CDN_KEY: atStart('supergraph.hive.key', 'The CDN access token.'),
  USAGE_REPORTS: atStart(
    'usage.reports',
    'Whether the operations that clients send are reported: to the registry that the supergraph comes from, whose token then needs the scope REPORT, to Hive or to GraphOS.',
  ),
  USAGE_INTERVAL_MS: atStart('usage.intervalMs', 'The time that one report is about.'),
  USAGE_MAX_BYTES: atStart(
    'usage.maxBytes',
    'The memory of what is not reported yet, in each process. Beyond it the oldest reports are dropped.',
  ),
  HIVE_ACCESS_TOKEN: atStart('usage.hive.token', 'The access token of GraphQL Hive with which usage is reported there.', {
    otherwise: 'nothing is reported to Hive',
  }),
  HIVE_TARGET: atStart('usage.hive.target', 'The target of Hive: organization/project/target, or its id.', {
    otherwise: 'the target that the token belongs to',
  }),
  HIVE_USAGE_ENDPOINT: atStart('usage.hive.endpoint', 'The usage endpoint of Hive, without a target.'),
  HIVE_USAGE_SAMPLE_RATE: atStart('usage.hive.sampleRate', 'The share of requests that is reported to Hive, 0 to 1.'),
  APOLLO_USAGE_REPORTS: atStart(
    'usage.graphos.reports',
    'Whether usage is reported to Apollo GraphOS, for the graph and with the API key of supergraph.uplink, wherever the supergraph comes from.',
  ),
  APOLLO_USAGE_REPORTING_INGRESS_URL: atStart(
    'usage.graphos.endpoint',
    'The endpoint of GraphOS for reports of usage: https, or http for a loopback address.',
  ),
  APOLLO_UPLINK_ENDPOINTS: atStart('supergraph.uplink.endpoints', 'The endpoints of Apollo Uplink, the preferred one first.'),
  APOLLO_GRAPH_REF: atStart('supergraph.uplink.graphRef', 'The graph and its variant, such as my-graph@current.'),
  APOLLO_KEY: atStart('supergraph.uplink.key', 'The API key of the graph.'),
  OVERRIDE_LABELS: atOnce('supergraph.overrideLabels', 'The active labels of progressive @override.'),
  OVERRIDE_LABELS_HEADER: atStart('supergraph.overrideLabelsHeader', 'The request header that lists active labels for one request.', {
    otherwise: 'no header counts',
  }),
  GATEWAY_ENGINE: atStart('engine.name', 'The query engine. `apollo` applies all changes at the next start.', { flag: 'engine' }),
  EXECUTOR: atStart('engine.executor', "How operations are executed: on the bytes of subgraphs' responses, or with parsed objects."),
  OVERWRITE_MEMORY: atStart(
    'engine.overwriteMemory',
    'Whether the memory of a request is overwritten when it is released, so that a later use of it is noticed. For development and tests.',
  ),
  ...TRAFFIC_ENTRIES,
  FORWARD_HEADERS: atStart('headers.forward', 'Request headers that every subgraph gets unchanged.'),
  FORWARD_MUTATION_HEADERS: atStart('headers.forwardWithMutations', 'Request headers that subgraphs get with mutations only.'),
  FORWARD_RESPONSE_HEADERS: atStart(
    'headers.forwardFromMutations',
    "Headers of subgraphs' responses to mutations that the client gets, such as set-cookie.",
  ),
  SUBGRAPH_ERRORS: atOnce('errors.show', 'What clients see of errors of subgraphs.', {
    otherwise: 'mask; pass where authentication is off',
  }),
  SUBGRAPH_ERROR_EXTENSIONS_ALLOW: atOnce(
    'errors.extensions.allow',
    'The extensions of errors of subgraphs that clients see, besides code and service.',
    {
      otherwise: 'with pass all, with codes none',
    },
  ),
  SUBGRAPH_ERROR_EXTENSIONS_DENY: atOnce('errors.extensions.deny', 'The extensions of errors of subgraphs that clients do not see.', {
    otherwise: 'none',
  }),
  AUTH: atStart(
    'authentication.enabled',
    'Whether credentials are checked. When off, they go to the subgraphs unchecked. When on, trustedIssuersFile, publicKeyFile or jwksUrl is required.',
    {
      flag: 'auth',
      otherwise: 'on; off where a server on a loopback address has neither a configuration file nor a setting of authentication',
    },
  ),
  AUTH_REQUIRED: atStart('authentication.required', 'Whether clients without a credential are refused; operations that sign in are not.'),
  TOKEN_SOURCES: atStart(
    'authentication.tokenSources',
    'Where access tokens are: authorization, header:<name>, header:<name>:<prefix>, cookie:<name>. The first that a request has counts.',
    { otherwise: 'authorization, which is the first where the list does not name it' },
  ),
  TOKEN_PUBLIC_KEY_FILE: atStart(
    'authentication.publicKeyFile',
    "The keys of Trestle's own authorization server: a JWKS or a PEM file. It is watched.",
  ),
  TOKEN_JWKS_URL: atStart('authentication.jwksUrl', 'The address of these keys, in place of a file.'),
  TRUSTED_ISSUERS_FILE: atStart(
    'authentication.trustedIssuersFile',
    'The issuers whose access tokens are accepted, with or without those keys (JSON).',
  ),
  REVOCATIONS_URL: atStart('authentication.revocationsUrl', 'The address that sends revoked tokens.', {
    otherwise: 'revoked tokens are accepted until they expire',
  }),
  API_KEY_EXCHANGE_URL: atStart('authentication.apiKeyExchangeUrl', 'The address at which API keys are exchanged for tokens (RFC 8693).', {
    otherwise: 'API keys are refused',
  }),
  SIGN_IN_FIELDS: atStart('authentication.signInFields', 'Mutations that ignore an invalid credential, because they sign a client in.'),
  POLICIES_FILE: atOnce('authorization.policiesFile', 'The policies of @policy (JSON). The file is watched.', {
    otherwise: 'no policy holds',
  }),
  DENIED_FIELDS: atOnce(
    'authorization.deniedFields',
    'What happens to an operation with fields that its caller may not read: they are removed (remove), or the operation is refused (refuse). With unprotected every caller gets all fields, and it is only reported: nothing is protected.',
  ),
  RATE_LIMIT_ANONYMOUS_PER_MIN: atStart(
    'rateLimits.anonymousPerMinute',
    'Requests of an address without a credential. With authentication off, there is a limit only if this is set.',
  ),
  RATE_LIMIT_FREE_PER_MIN: atStart('rateLimits.freePerMinute', 'Requests of an account with the plan free.'),
  RATE_LIMIT_PRO_PER_MIN: atStart('rateLimits.proPerMinute', 'Requests of an account with the plan pro.'),
  REDIS_URL: atStart('rateLimits.redisUrl', 'A Redis server through which processes share these counts.', {
    otherwise: 'each process counts alone',
  }),
  ...LIMIT_ENTRIES,
  RESPONSE_CACHE: atStart(
    'responseCache.store',
    'Where results are kept: in the memory of this process, or in Redis (rateLimits.redisUrl) for all processes.',
  ),
  RESPONSE_CACHE_CONTENTS: atStart(
    'responseCache.contents',
    'What is kept: results of whole queries, results of single fetches (entities and root fields of a subgraph), or both.',
  ),
  RESPONSE_CACHE_BYTES: atStart('responseCache.maxBytes', 'Bytes of all results in memory.'),
  RESPONSE_CACHE_SHARING: atStart(
    'responseCache.sharing',
    'Which clients share results with PUBLIC fields only: those without a credential, or all.',
  ),
  RESPONSE_CACHE_STALE_SECONDS: atStart(
    'responseCache.staleSeconds',
    'For how long a result is sent once its time is over, while it is executed again.',
  ),
  SUBGRAPH_CACHE_ENABLED: atOnce('responseCache.allSubgraphs', 'Whether results of subgraphs without a setting of their own are kept.'),
  SUBGRAPH_CACHE_TTL_SECONDS: atOnce(
    'responseCache.ttlSeconds',
    'How long the result of a single fetch is kept for which neither @cacheControl nor Cache-Control has a time; 0 for not at all.',
  ),
  RESPONSE_CACHE_TIMEOUT_MS: atStart(
    'responseCache.timeoutMs',
    'How long Redis may take for a command. Then the operation goes on without it.',
  ),
  RESPONSE_CACHE_KEY: atStart(
    'responseCache.key',
    'A key of at least 32 characters, with which clients invalidate results at /response-cache.',
    {
      otherwise: 'there is no such endpoint',
    },
  ),
  RESPONSE_CACHE_SUBSCRIPTIONS_FILE: atStart(
    'responseCache.subscriptions.file',
    'Subscriptions (GraphQL) that the gateway executes itself; each event invalidates results.',
  ),
  RESPONSE_CACHE_SUBSCRIPTIONS_AUTHORIZATION: atStart(
    'responseCache.subscriptions.authorization',
    'The value of Authorization with which subgraphs receive these subscriptions. The gateway checks no rights for them.',
  ),
  AUTOMATIC_PERSISTED_QUERIES: atStart(
    'documents.automaticPersistedQueries',
    'Whether texts of clients are kept in memory, so that clients may send their hashes.',
  ),
  TRUSTED_DOCUMENTS_FILE: atStart('documents.trustedFile', 'Documents that clients may send by id (JSON). It is watched.'),
  TRUSTED_DOCUMENTS_ONLY: atStart('documents.trustedOnly', 'Whether all other documents are refused.'),
  TRUSTED_DOCUMENTS_REQUIRE_ID: atStart(
    'documents.requireId',
    'Whether trusted documents are executed by their ids only, and refused as texts. Needs documents.trustedOnly.',
  ),
  TRUSTED_DOCUMENTS_LOG_UNKNOWN: atStart(
    'documents.logUnknown',
    'Whether other documents are counted, and each is logged once by its hash.',
  ),
  HIVE_DOCUMENTS_ENDPOINT: atStart(
    'documents.hive.endpoints',
    'The endpoint of a target on the CDN of Hive, and those of mirrors: documents of its app deployments are trusted.',
  ),
  HIVE_DOCUMENTS_KEY: atStart('documents.hive.key', 'The CDN access token.'),
  HIVE_DOCUMENTS_TIMEOUT_MS: atStart('documents.hive.timeoutMs', 'The time limit for a document, for each endpoint.'),
  MCP: atStart('mcp.enabled', 'Whether agents find tools at /mcp: the operations of documents.trustedFile.', { flag: 'mcp' }),
  MCP_CLIENT: atStart('mcp.client', 'The client in documents.trustedFile whose documents are tools.', {
    otherwise: 'the one that the headers of a request name',
  }),
  MCP_MUTATIONS: atStart('mcp.mutations', 'Whether mutations are tools too.'),
  MCP_REQUIRE_CREDENTIAL: atStart('mcp.requireCredential', 'Whether agents without a credential are answered 401.'),
  MCP_AUTHORIZATION_SERVERS: atStart('mcp.authorizationServers', 'The OAuth servers at which agents get tokens, by their issuers.'),
  SUBSCRIPTIONS: atOnce(
    'subscriptions.enabled',
    'Whether clients may subscribe. When off, WebSockets are refused too. The fields stay in the schema.',
  ),
  MAX_SUBSCRIPTIONS: atStart('subscriptions.maxSubscriptions', 'The most subscriptions of the process.'),
  MAX_SOCKETS: atStart('subscriptions.maxSockets', 'The most WebSockets, and as many event streams.'),
  MAX_OPERATIONS_PER_SOCKET: atStart('subscriptions.maxOperationsPerSocket', 'The most operations of one socket or shared event stream.'),
  MAX_MESSAGE_BYTES: atStart('subscriptions.maxMessageBytes', 'Bytes of one message from a client.'),
  CONNECTION_INIT_TIMEOUT_MS: atStart('subscriptions.connectionInitTimeoutMs', 'The time limit for connection_init.'),
  PING_INTERVAL_MS: atStart('subscriptions.pingIntervalMs', 'The interval of pings, to clients and to subgraphs.'),
  SLOW_CONSUMER: atStart('subscriptions.slowConsumer.policy', 'What happens when a client reads too slowly.'),
  SLOW_CONSUMER_MESSAGES: atStart('subscriptions.slowConsumer.maxMessages', 'Messages that are kept for one client.'),
  SLOW_CONSUMER_BYTES: atStart('subscriptions.slowConsumer.maxBytes', 'Bytes that are kept for one client.'),
  SLOW_CONSUMER_TIMEOUT_MS: atStart('subscriptions.slowConsumer.timeoutMs', 'A client that reads nothing for so long is disconnected.'),
  SLOW_CONSUMER_TOTAL_BYTES: atStart('subscriptions.slowConsumer.totalBytes', 'Bytes that are kept for all clients.'),
  SUBSCRIPTION_RECONNECT_MS: atStart(
    'subscriptions.reconnectMs',
    'How long a lost connection to a subgraph with the resume extension is tried again. Subscriptions of other subgraphs end at once.',
  ),
  EXTENSIONS_FILE: atStart('extensions.file', 'A JavaScript module with extensions.'),
  EXTENSION_TIMEOUT_MS: atStart(
    'extensions.timeoutMs',
    'The time limit of each hook of an extension, and of each call of the coprocessor.',
  ),
  COPROCESSOR_URL: atStart('extensions.coprocessor.url', 'The address of a coprocessor, which is called over HTTP.'),
  COPROCESSOR_STAGES: atStart('extensions.coprocessor.stages', 'The stages at which it is called.'),
  COPROCESSOR_HEADERS: atStart('extensions.coprocessor.headers', 'The request headers that it gets.'),
};
