/** The features whose cost `bench:features` measures, each with what switches it on. */

/** Caching for every type of the supergraph, so that responses of both scenes can be kept. */
const CACHED = {
  head: `
    extend schema
      @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key", "@external", "@shareable", "@composeDirective"])
      @link(url: "https://trestle.example/cacheControl/v0.1", import: ["@cacheControl"])
      @composeDirective(name: "@cacheControl")
    enum cacheControl__Scope { PUBLIC PRIVATE }
    directive @cacheControl(maxAge: Int, scope: cacheControl__Scope, inheritMaxAge: Boolean) on FIELD_DEFINITION | OBJECT | INTERFACE | UNION`,
  patch: (sdl) =>
    sdl
      .replaceAll(/(type (?!Query|Mutation)\w+ @key\(fields: "id"(?:, resolvable: false)?\))/g, '$1 @cacheControl(maxAge: 600)')
      .replaceAll(/\b((?:users|orders)\(first: Int = \d+\): \[\w+!\]!|product: Product!)/g, '$1 @cacheControl(maxAge: 600)'),
};
const PROTECTED = {
  head: 'extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key", "@external", "@shareable", "@authenticated"])',
  patch: (sdl) => sdl.replaceAll(/(email: String!|status: Status!|price: Int!)/g, '$1 @authenticated'),
};

/**
 * Returns the features. `against` names the process that a feature is compared with: `plain` (no feature, no credentials) or `token`, when a feature
 * needs a token. `config` is the text of a configuration file; `files` are written as JSON, and their paths given by the variables. With
 * `hasHttp2` the subgraphs are at their addresses for HTTP/2.
 */
export function listFeatures(run) {
  return [
    { name: 'plain', isBase: true },
    ...listAccess(run),
    ...listExecution(run),
    ...listServer(run),
    ...listLimits(run),
    ...listSubgraphs(run),
  ];
}

function listAccess({ token, key }) {
  const authorization = { authorization: `Bearer ${token}` };
  const authentication = { AUTH: 'on', TOKEN_PUBLIC_KEY_FILE: key, RATE_LIMIT_FREE_PER_MIN: '100000000' };
  return [
    { name: 'token', isBase: true, env: authentication, headers: authorization },
    { name: 'token check, with the rate limit', setting: '`authentication`', env: authentication, headers: authorization },
    { name: 'rate limit of addresses', setting: '`rateLimits.anonymousPerMinute`', env: { RATE_LIMIT_ANONYMOUS_PER_MIN: '100000000' } },
    {
      name: 'field access rules',
      setting: '`@authenticated`',
      against: 'token',
      env: authentication,
      headers: authorization,
      ...PROTECTED,
    },
    {
      name: 'header rules: propagate and insert',
      setting: '`headers.request`',
      headers: { 'x-tenant': 'a' },
      config: 'headers:\n  request:\n    - { propagate: X-Tenant }\n    - { insert: X-Gateway, value: "here" }\n',
    },
    {
      name: 'header rule: a pattern',
      setting: '`headers.request`',
      headers: { 'x-tenant-id': 'a' },
      config: 'headers:\n  request:\n    - { propagate: "X-Tenant-*" }\n',
    },
    {
      name: 'header rule: a claim',
      setting: '`headers.request`',
      against: 'token',
      env: authentication,
      headers: authorization,
      config: 'headers:\n  request:\n    - { insert: X-User, claim: sub }\n',
    },
  ];
}

function listExecution({ hooks, scenes }) {
  const documents = { clients: [{ documents: Object.fromEntries(scenes.map(({ chain, query }) => [chain, query])) }] };
  return [
    { name: 'cost shown in responses', setting: '`Trestle-Cost: 1`', headers: { 'trestle-cost': '1' } },
    { name: 'costs measured, not enforced', setting: '`limits.costMode`', env: { COST_MODE: 'measure' } },
    { name: 'response cache, every request a hit', setting: '`responseCache`', env: { RESPONSE_CACHE: 'memory' }, ...CACHED },
    { name: 'response cache, nothing to keep', setting: '`responseCache`', env: { RESPONSE_CACHE: 'memory' } },
    {
      name: 'entity cache, every fetch a hit',
      setting: '`responseCache.contents`',
      env: { RESPONSE_CACHE: 'memory', RESPONSE_CACHE_CONTENTS: 'entities' },
      ...CACHED,
    },
    { name: 'extension with every hook, empty', setting: '`extensions.file`', env: { EXTENSIONS_FILE: hooks } },
    {
      name: 'trusted documents by id',
      setting: '`documents.trustedFile`',
      files: { TRUSTED_DOCUMENTS_FILE: documents },
      toBody: ({ chain }) => ({ documentId: chain }),
    },
    { name: '`@defer` allowed, not used', setting: '`limits.maxDeferred`', env: { MAX_DEFERRED: '20' } },
    {
      name: 'labels of `@override` by a header',
      setting: '`supergraph.overrideLabelsHeader`',
      env: { OVERRIDE_LABELS_HEADER: 'x-labels' },
    },
  ];
}

function listServer({ certificate, collector }) {
  const traces = (ratio) => ({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector,
    OTEL_TRACES_SAMPLER: 'traceidratio',
    OTEL_TRACES_SAMPLER_ARG: String(ratio),
  });
  const tls = { TLS_CERT_FILE: certificate.certFile, TLS_KEY_FILE: certificate.keyFile };
  return [
    { name: 'access lines', setting: '`log.level`', env: { LOG_LEVEL: 'info' } },
    { name: 'traces, 1 of 10', setting: '`telemetry.traces`', env: traces(0.1) },
    { name: 'traces, all', setting: '`telemetry.traces`', env: traces(1) },
    { name: 'two workers', setting: '`server.workers`', env: { WORKERS: '2' } },
    { name: 'TLS, HTTP/1.1', setting: '`server.tls`', env: tls, load: { isSecure: true } },
    { name: 'TLS, HTTP/2', setting: '`server.tls`', env: tls, load: { isSecure: true, allowH2: true } },
    { name: 'parser of Node.js', setting: '`server.requestReader`', env: { REQUEST_READER: 'node' } },
    { name: 'executor on objects', setting: '`engine.executor`', env: { EXECUTOR: 'objects' } },
    { name: 'equal queries sent once', setting: '`traffic.deduplicate`', env: { UPSTREAM_DEDUPLICATION: 'on' } },
    { name: 'equal operations executed once', setting: '`traffic.deduplicateOperations`', env: { OPERATION_DEDUPLICATION: 'on' } },
    { name: 'time limit of operations', setting: '`traffic.operationTimeoutMs`', env: { OPERATION_TIMEOUT_MS: '30000' } },
    { name: 'undici to subgraphs', setting: '`traffic.client`', env: { UPSTREAM_CLIENT: 'undici' } },
    { name: 'HTTP/2 to subgraphs', setting: '`traffic.client`', env: { UPSTREAM_CLIENT: 'http2' }, hasHttp2: true },
  ];
}

function listLimits({ token, key }) {
  const authorization = { authorization: `Bearer ${token}` };
  const env = { AUTH: 'on', TOKEN_PUBLIC_KEY_FILE: key, RATE_LIMIT_FREE_PER_MIN: '100000000' };
  return [
    { name: 'limits measured, not enforced', setting: '`limits.mode`', env: { LIMITS_MODE: 'measure' } },
    { name: 'another assumed size of lists', setting: '`limits.assumedListSize`', env: { ASSUMED_LIST_SIZE: '3' } },
    {
      name: 'field access rules, not enforced',
      setting: '`authorization.deniedFields: unprotected`',
      against: 'token',
      env: { ...env, DENIED_FIELDS: 'unprotected' },
      headers: authorization,
      ...PROTECTED,
    },
    {
      name: 'extensions of errors, no errors',
      setting: '`errors.extensions`',
      env: { SUBGRAPH_ERRORS: 'codes', SUBGRAPH_ERROR_EXTENSIONS_ALLOW: 'reason' },
    },
    {
      name: 'trace context in three formats',
      setting: '`telemetry.propagators`',
      env: { OTEL_PROPAGATORS: 'tracecontext,b3multi,baggage' },
      headers: { 'x-b3-traceid': '80f198ee56343ba864fe8b2a57d3eff7', 'x-b3-spanid': 'e457b5a2e4d86bd1', baggage: 'tenant=a' },
    },
  ];
}

function listSubgraphs({ collector }) {
  const entities = { RESPONSE_CACHE: 'memory', RESPONSE_CACHE_CONTENTS: 'entities' };
  const coprocessor = (stages) => ({ COPROCESSOR_URL: `${collector}/`, COPROCESSOR_STAGES: stages });
  return [
    { name: 'retries by status, none needed', setting: '`traffic.retryStatuses`', env: { SUBGRAPH_RETRY_STATUSES: '502,503,504' } },
    { name: 'idle time of connections', setting: '`traffic.idleTimeoutMs`', env: { SUBGRAPH_IDLE_TIMEOUT_MS: '30000' } },
    {
      name: 'signatures of AWS',
      setting: '`traffic.awsSigV4`',
      env: {
        ...{ SUBGRAPH_AWS_SIGV4: 'on', SUBGRAPH_AWS_REGION: 'eu-central-1', SUBGRAPH_AWS_SERVICE: 'execute-api' },
        ...{ AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'EXAMPLEKEY' },
      },
    },
    {
      name: 'entity cache, without one subgraph',
      setting: '`subgraphs.<name>.responseCache`',
      env: { ...entities, SUBGRAPH_CACHE_ENABLED_ORDERS: 'off' },
      ...CACHED,
    },
    {
      name: 'entity cache, times by setting',
      setting: '`responseCache.ttlSeconds`',
      env: { ...entities, SUBGRAPH_CACHE_TTL_SECONDS: '600' },
    },
    { name: 'coprocessor at onRequest', setting: '`extensions.coprocessor.stages`', env: coprocessor('onRequest') },
    {
      name: 'coprocessor at onSubgraphRequest',
      setting: '`extensions.coprocessor.stages`',
      env: coprocessor('onSubgraphRequest'),
    },
  ];
}
