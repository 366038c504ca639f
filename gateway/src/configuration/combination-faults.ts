/** Settings that are valid each by itself, and not together. */
import type { readSettings } from '@trestle/env';
import { listTraceHeaders } from '@trestle/telemetry/propagator-names';
import { findSourceHeaders } from '../request/token-sources.ts';
import type { AddFault } from './entries/entry.ts';
import type { CoprocessorStage } from '../extensions/coprocessor-settings.ts';
import type { StageChoices } from './settings/coprocessor-settings.ts';
import type { settings } from './settings/settings.ts';

const CLAIMS_NEED_AUTH = 'must be on for rules with `claim`: claims of tokens that are not checked could be forged';

const RECORDED_TOKENS = 'must not name a header of authentication.tokenSources: it holds a token';
const MCP_NEEDS_DOCUMENTS = 'needs documents.trustedFile: only trusted documents are tools';
const CACHE_NEEDS_REDIS = 'needs rateLimits.redisUrl (REDIS_URL) for redis';
const CACHE_NEEDS_ONE_WORKER = 'must be redis or off with several workers: memory would differ between them';
const NEEDS_TRESTLE = 'needs the engine trestle';
const DISCOVERY_NEEDS_URL = 'needs server.publicUrl: agents compare it with the address that they use';

const REPORTS_NEED_TLS = 'must be an https URL, because the key is sent with reports; http is allowed for loopback addresses only';
const CALLBACKS_NEED_URL = 'must be set (SUBSCRIPTION_CALLBACK_URL): a subgraph with subscriptionProtocol: callback sends its events there';
const CALLBACKS_NEED_ONE_WORKER = 'must not be set with several workers: callbacks must reach the process that has the subscription';

type SettingValues = ReturnType<typeof readSettings<typeof settings>>;

interface Surroundings {
  /** Whether these are the settings of a process with several graphs, which has no documents by itself. */
  readonly isProcess: boolean;
  /** Whether rules for headers need the claims of tokens. */
  readonly hasClaimRules: boolean;
  /** Whether a subgraph sends events to this process. */
  readonly hasCallbacks: boolean;
  /** What is set for single stages of the coprocessor. */
  readonly stages: StageChoices;
  readonly addFault: AddFault;
}

/** Adds a fault for each setting that another one does not allow. */
export function findCombinationFaults(values: SettingValues, surroundings: Surroundings): void {
  const { isProcess, hasClaimRules, hasCallbacks, stages, addFault } = surroundings;
  if (values.AUTH_REQUIRED && !values.AUTH) addFault('AUTH_REQUIRED', 'needs auth, which is off');
  if (values.TOKEN_SOURCES?.some(({ kind }) => kind !== 'authorization') && !values.AUTH)
    addFault('TOKEN_SOURCES', 'needs auth, which is off');
  const recorded = values.OTEL_INSTRUMENTATION_HTTP_CAPTURE_HEADERS_SERVER_REQUEST;
  if (findSourceHeaders(values.TOKEN_SOURCES).some((name) => recorded.includes(name)))
    addFault('OTEL_INSTRUMENTATION_HTTP_CAPTURE_HEADERS_SERVER_REQUEST', RECORDED_TOKENS);
  if (!values.AUTH && hasClaimRules) addFault('AUTH', CLAIMS_NEED_AUTH);
  if (values.MCP && !isProcess) {
    if (!values.TRUSTED_DOCUMENTS_FILE) addFault('MCP', MCP_NEEDS_DOCUMENTS, 'TRUSTED_DOCUMENTS_FILE');
    if (values.GATEWAY_ENGINE !== 'trestle') addFault('MCP', NEEDS_TRESTLE);
    if (values.MCP_REQUIRE_CREDENTIAL && !values.AUTH) addFault('MCP_REQUIRE_CREDENTIAL', 'needs auth, which is off');
    if (values.MCP_AUTHORIZATION_SERVERS.length > 0 && values.PUBLIC_URL === undefined)
      addFault('MCP_AUTHORIZATION_SERVERS', DISCOVERY_NEEDS_URL, 'PUBLIC_URL');
  }
  findDocumentFaults(values, { isProcess, addFault });
  if (hasCallbacks && values.SUBSCRIPTION_CALLBACK_URL === undefined) addFault('SUBSCRIPTION_CALLBACK_URL', CALLBACKS_NEED_URL);
  if (values.SUBSCRIPTION_CALLBACK_URL !== undefined && values.WORKERS > 1)
    addFault('SUBSCRIPTION_CALLBACK_URL', CALLBACKS_NEED_ONE_WORKER);
  findExtensionFaults(values, { stages, addFault });
  findPropagationFaults(values, addFault);
  if (!values.SUBSCRIPTIONS && values.RESPONSE_CACHE_SUBSCRIPTIONS_FILE)
    addFault('SUBSCRIPTIONS', 'must be on for responseCache.subscriptions.file, whose subscriptions the gateway executes itself');
  findUsageFaults(values, addFault);
  findGraphosFaults(values, { isProcess, addFault });
  findEngineFaults(values, addFault);
  if (values.RESPONSE_CACHE === 'redis' && !values.REDIS_URL) addFault('RESPONSE_CACHE', CACHE_NEEDS_REDIS, 'REDIS_URL');
  if (values.RESPONSE_CACHE !== 'off' && values.GATEWAY_ENGINE !== 'trestle') addFault('RESPONSE_CACHE', NEEDS_TRESTLE);
  if (values.RESPONSE_CACHE === 'memory' && values.WORKERS > 1) addFault('RESPONSE_CACHE', CACHE_NEEDS_ONE_WORKER);
}

/** Subgraphs would get these headers twice. Those of the default may be forwarded, as they always could. */
function findPropagationFaults(values: SettingValues, addFault: AddFault): void {
  const written = listTraceHeaders(values.OTEL_PROPAGATORS.filter((name) => name !== 'tracecontext'));
  for (const name of ['FORWARD_HEADERS', 'FORWARD_MUTATION_HEADERS'] as const) {
    const twice = values[name].filter((header) => written.includes(header.toLowerCase()));
    if (twice.length > 0) addFault(name, `must not name headers that telemetry.propagators sends: ${twice.join(', ')}`);
  }
}

function findDocumentFaults(values: SettingValues, { isProcess, addFault }: Pick<Surroundings, 'isProcess' | 'addFault'>): void {
  const { HIVE_DOCUMENTS_ENDPOINT: endpoints, HIVE_DOCUMENTS_KEY: key } = values;
  if (!values.TRUSTED_DOCUMENTS_FILE && endpoints.length === 0 && !isProcess)
    for (const name of ['TRUSTED_DOCUMENTS_ONLY', 'TRUSTED_DOCUMENTS_LOG_UNKNOWN'] as const)
      if (values[name]) addFault(name, 'needs documents.trustedFile or documents.hive', 'TRUSTED_DOCUMENTS_FILE');
  if (values.TRUSTED_DOCUMENTS_REQUIRE_ID && !values.TRUSTED_DOCUMENTS_ONLY)
    addFault('TRUSTED_DOCUMENTS_REQUIRE_ID', 'needs documents.trustedOnly', 'TRUSTED_DOCUMENTS_ONLY');
  if (isProcess) return;
  if (endpoints.length > 0 && key === undefined)
    addFault('HIVE_DOCUMENTS_ENDPOINT', 'needs documents.hive.key (HIVE_DOCUMENTS_KEY)', 'HIVE_DOCUMENTS_KEY');
  if (endpoints.length === 0 && key !== undefined)
    addFault('HIVE_DOCUMENTS_KEY', 'needs documents.hive.endpoints (HIVE_DOCUMENTS_ENDPOINT)', 'HIVE_DOCUMENTS_ENDPOINT');
}

function findExtensionFaults(
  { GATEWAY_ENGINE: engine, EXTENSIONS_FILE: file, COPROCESSOR_URL: url, COPROCESSOR_STAGES: called }: SettingValues,
  { stages, addFault }: Pick<Surroundings, 'stages' | 'addFault'>,
): void {
  if (engine === 'apollo' && (file !== undefined || url !== undefined || called.length > 0))
    addFault('GATEWAY_ENGINE', 'must be trestle for extensions');
  if (url !== undefined && called.length === 0) addFault('COPROCESSOR_STAGES', 'must name a stage');
  const isCalled = (stage: string) => called.includes(stage);
  const unplaced = called.filter((stage) => stages.get(stage as CoprocessorStage)?.url === undefined);
  if (url === undefined && unplaced.length > 0)
    addFault('COPROCESSOR_URL', `must be set, because stages are named that have no URL of their own: ${unplaced.join(', ')}`);
  const idle = [...stages.keys()].filter((stage) => !isCalled(stage));
  if (idle.length > 0) addFault('COPROCESSOR_STAGES', `must name each stage that has settings of its own: ${idle.join(', ')}`);
}

/** The engine `apollo` would ignore these. */
function findEngineFaults(values: SettingValues, addFault: AddFault): void {
  if (values.GATEWAY_ENGINE === 'trestle') return;
  if (values.OPERATION_DEDUPLICATION) addFault('OPERATION_DEDUPLICATION', NEEDS_TRESTLE);
  if (values.OPERATION_TIMEOUT_MS > 0) addFault('OPERATION_TIMEOUT_MS', NEEDS_TRESTLE);
  if (values.OVERRIDE_LABELS.length > 0) addFault('OVERRIDE_LABELS', NEEDS_TRESTLE);
  if (values.OVERRIDE_LABELS_HEADER !== undefined) addFault('OVERRIDE_LABELS_HEADER', NEEDS_TRESTLE);
  if (values.MAX_DEFERRED > 0) addFault('MAX_DEFERRED', NEEDS_TRESTLE);
}

/** Where a key may be sent without TLS. */
const LOOPBACK: readonly string[] = ['127.0.0.1', '[::1]', 'localhost'];

function findUsageFaults(values: SettingValues, addFault: AddFault): void {
  const { HIVE_ACCESS_TOKEN: token, HIVE_TARGET: target, REGISTRY_URL: registry, GATEWAY_ENGINE: engine } = values;
  if (target !== undefined && token === undefined)
    addFault('HIVE_TARGET', 'needs usage.hive.token (HIVE_ACCESS_TOKEN)', 'HIVE_ACCESS_TOKEN');
  if (token !== undefined && registry !== undefined)
    addFault('HIVE_ACCESS_TOKEN', 'must not be set beside a registry: usage is reported to one');
  if (token !== undefined && engine !== 'trestle') addFault('HIVE_ACCESS_TOKEN', NEEDS_TRESTLE);
}

function findGraphosFaults(values: SettingValues, { isProcess, addFault }: Pick<Surroundings, 'isProcess' | 'addFault'>): void {
  const { protocol, hostname } = new URL(values.APOLLO_USAGE_REPORTING_INGRESS_URL);
  if (protocol !== 'https:' && !LOOPBACK.includes(hostname)) addFault('APOLLO_USAGE_REPORTING_INGRESS_URL', REPORTS_NEED_TLS);
  // Each graph may have a key of its own.
  if (!values.APOLLO_USAGE_REPORTS || isProcess) return;
  const { APOLLO_KEY: key, APOLLO_GRAPH_REF: graphRef, HIVE_ACCESS_TOKEN: token, REGISTRY_URL: registry, GATEWAY_ENGINE: engine } = values;
  if (graphRef === undefined) addFault('APOLLO_USAGE_REPORTS', 'needs supergraph.uplink.graphRef (APOLLO_GRAPH_REF)', 'APOLLO_GRAPH_REF');
  if (key === undefined) addFault('APOLLO_USAGE_REPORTS', 'needs supergraph.uplink.key (APOLLO_KEY)', 'APOLLO_KEY');
  if (token !== undefined) addFault('APOLLO_USAGE_REPORTS', 'must be off beside usage.hive.token: usage is reported to one');
  if (registry !== undefined) addFault('APOLLO_USAGE_REPORTS', 'must be off beside a registry: usage is reported to one');
  if (engine !== 'trestle') addFault('APOLLO_USAGE_REPORTS', NEEDS_TRESTLE);
}
