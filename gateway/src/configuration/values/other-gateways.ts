/**
 * Names of other gateways' configuration files, for users who bring one along (docs/gateway/from-apollo-router.md, docs/gateway/from-hive-gateway.md).
 * Several gateways have some of them. No I/O.
 */

const is = (setting: string) => `the setting here is \`${setting}\``;
const are = (...settings: string[]) => `the settings here are ${settings.map((each) => `\`${each}\``).join(' and ')}`;
const areIn = (...sections: string[]) => `the settings here are in ${sections.map((each) => `\`${each}\``).join(' and ')}`;
const ALWAYS = 'it is always on';
const CSRF =
  'POSTs from other sites, and their requests by forms, images and links, are always refused; their scripts can execute queries by GET, and cannot read the results';
const NOT_BUILT_IN = 'it is not built in';
const PROBES = 'the settings here are `server.livenessPath` and `server.readinessPath`, besides `/livez` and `/readyz`';

/** By their paths. */
const ROUTER: readonly (readonly [string, string])[] = [
  ['apq', 'automatic persisted queries are always on'],
  ['authentication.router', are('authentication.trustedIssuersFile', 'authentication.tokenSources')],
  ['authorization.directives', ALWAYS],
  ['authorization.require_authentication', is('authentication.required')],
  ['connectors', NOT_BUILT_IN],
  ['coprocessor', is('extensions.coprocessor')],
  ['csrf', CSRF],
  ['demand_control', are('limits.costMode', 'limits.maxCost')],
  ['forbid_mutations', is('limits.mutations')],
  ['headers.all', are('headers.request', 'headers.response')],
  ['headers.subgraphs', is('subgraphs.<name>.headers')],
  ['health_check', PROBES],
  ['homepage', is('server.graphiql')],
  ['include_subgraph_errors', is('errors.show')],
  ['limits.router', 'its limits are in `limits` itself, such as `limits.maxDepth`'],
  ['override_subgraph_url', is('subgraphs.<name>.url')],
  ['persisted_queries', areIn('documents')],
  ['preview_entity_cache', areIn('responseCache')],
  ['preview_file_uploads', is('limits.maxUploadBytes')],
  ['progressive_override', are('supergraph.overrideLabels', 'supergraph.overrideLabelsHeader')],
  ['response_cache', areIn('responseCache')],
  ['rhai', is('extensions.file')],
  ['sandbox', is('server.graphiql')],
  ['subscription', areIn('subscriptions')],
  ['supergraph.introspection', is('limits.introspection')],
  ['supergraph.listen', are('server.host', 'server.port')],
  ['supergraph.path', is('server.path')],
  ['telemetry.apollo', areIn('usage.graphos')],
  ['telemetry.exporters', areIn('telemetry', 'telemetry.traces', 'telemetry.metrics', 'telemetry.logs')],
  ['telemetry.instrumentation', is('telemetry.requestHeaders')],
  ['tls', are('server.tls', 'traffic.tls')],
  ['traffic_shaping', areIn('traffic')],
];

const HIVE: readonly (readonly [string, string])[] = [
  ['additionalResolvers', NOT_BUILT_IN],
  ['additionalTypeDefs', NOT_BUILT_IN],
  ['awsSigv4', is('extensions.file')],
  ['batching', is('limits.maxBatch')],
  ['blockFieldSuggestions', is('limits.introspection')],
  ['cache', are('rateLimits.redisUrl', 'responseCache.store')],
  ['contentEncoding', are('server.compression', 'traffic.compression')],
  ['cors', 'the settings here are `server.corsOrigins` and others of `server`'],
  ['csrfPrevention', CSRF],
  ['customAgent', areIn('traffic')],
  ['deferStream', is('limits.maxDeferred')],
  ['demandControl', are('limits.costMode', 'limits.maxCost')],
  ['disableIntrospection', is('limits.introspection')],
  ['executionCancellation', ALWAYS],
  ['fork', is('server.workers')],
  ['genericAuth', areIn('authentication')],
  ['gracefulSchemaReload', ALWAYS],
  ['graphiql', is('server.graphiql')],
  ['graphqlEndpoint', is('server.path')],
  ['healthCheckEndpoint', PROBES],
  ['hmacSignature', is('extensions.file')],
  ['host', is('server.host')],
  ['inboundInflightRequestDeduplication', is('traffic.deduplicateOperations')],
  ['jwt', are('authentication.trustedIssuersFile', 'authentication.tokenSources')],
  ['landingPage', is('server.graphiql')],
  ['logging', areIn('log')],
  ['maskedErrors', is('errors.show')],
  ['maxDepth', is('limits.maxDepth')],
  ['maxTokens', is('limits.maxTokens')],
  ['multipart', is('limits.maxUploadBytes')],
  ['openTelemetry', areIn('telemetry')],
  ['persistedDocuments', areIn('documents')],
  ['plugins', is('extensions.file')],
  ['pollingInterval', is('supergraph.pollIntervalMs')],
  ['port', is('server.port')],
  ['progressiveOverride', are('supergraph.overrideLabels', 'supergraph.overrideLabelsHeader')],
  ['prometheus', is('server.metricsPort')],
  ['propagateHeaders', are('headers.request', 'headers.response')],
  ['proxy', NOT_BUILT_IN],
  ['rateLimiting', areIn('rateLimits')],
  ['readinessCheckEndpoint', PROBES],
  ['renderGraphiQL', is('server.graphiql')],
  ['reporting', areIn('usage')],
  ['requestDeadline', is('traffic.operationTimeoutMs')],
  ['requestId', ALWAYS],
  ['responseCaching', areIn('responseCache')],
  ['sslCredentials', is('server.tls')],
  ['subgraph', NOT_BUILT_IN],
  ['subgraphErrors', are('errors.show', 'subgraphs.<name>.errors')],
  ['transportEntries', areIn('subgraphs.<name>')],
  ['upstreamCancellation', ALWAYS],
  ['upstreamRetry', is('traffic.retryPercent')],
  ['upstreamTimeout', is('traffic.timeoutMs')],
  ['webhooks', NOT_BUILT_IN],
];

const NAMES: ReadonlyMap<string, string> = new Map([...ROUTER, ...HIVE]);

/** Returns what stands here for a path in another gateway's file, as the end of a sentence; undefined for other paths. */
export function findOtherGateway(path: string): string | undefined {
  const found = NAMES.get(path);
  return found === undefined ? undefined : `; it is a name of another gateway: ${found}`;
}
