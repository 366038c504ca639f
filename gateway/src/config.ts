/** Puts the settings of the gateway together: from the command line, else from the environment, else from the configuration file. */
import { existsSync } from 'node:fs';
import { SettingsError, SettingsFaults, readFamily, readSettings } from '@trestle/env';
import { hasTokenKeys, requireTokenKeys } from '@trestle/identity/verification/verification';
import type { TlsCredentials } from '@trestle/service/server/tls';
import { schemaPath } from '@trestle/schema/sdl';
import { readCommandLine } from './command-line.ts';
import type { AcceptedFiles } from './configuration/file/accepted-files.ts';
import { type SourceSettings, chooseSource } from './configuration/choose-source.ts';
import type { FileSettingName } from './configuration/entries/entry.ts';
import {
  EVERYWHERE,
  type GraphPlace,
  findMisplaced,
  findSharedCopies,
  inherit,
  readGraphs,
  refuseGraphSettings,
} from './configuration/graph-places.ts';
import { findCombinationFaults } from './configuration/combination-faults.ts';
import { createAddFault, hasFault } from './configuration/describe-fault.ts';
import { isAuthConfigured } from './configuration/is-auth-configured.ts';
import { type Configuration, loadConfiguration } from './configuration/load-configuration.ts';
import { findPathFaults } from './configuration/path-faults.ts';
import { readListSizes } from './configuration/list-sizes.ts';
import { toLimits } from './configuration/read-limits.ts';
import { type SubgraphReadings, readSubgraphs, toErrorPolicy } from './configuration/read-subgraphs.ts';
import { type StageChoices, readStages, toCoprocessor } from './configuration/settings/coprocessor-settings.ts';
import { settings } from './configuration/settings/settings.ts';
import { readChoices } from './configuration/subgraph-choices.ts';
import { readUrlLists } from './configuration/subgraph-urls.ts';
import type { Limits } from './limits/limits.ts';
import { hasClaims } from './headers/header-rules.ts';
import { readSubgraphTls } from './tls/subgraph-tls-files.ts';
import { SUBGRAPH_ERROR_POLICIES, type SubgraphErrorPolicy } from './errors/format-error.ts';
import { readServerTls } from './tls/server-certificate.ts';
import type { SubgraphTlsSettings } from './tls/subgraph-tls.ts';
import { SUBSCRIPTION_PROTOCOLS, type SubscriptionProtocol } from './upstream/subscriptions/subscription-upstream.ts';

const AUTH_NEEDS_KEYS =
  'needs trustedIssuersFile, publicKeyFile or jwksUrl (TRUSTED_ISSUERS_FILE, TOKEN_PUBLIC_KEY_FILE, TOKEN_JWKS_URL); without authentication, set authentication.enabled to false (--auth off)';
const KEY_SETTINGS = ['TRUSTED_ISSUERS_FILE', 'TOKEN_PUBLIC_KEY_FILE', 'TOKEN_JWKS_URL'] as const satisfies FileSettingName[];
/** The settings of a graph, with those of its process. */
export type Config = ReturnType<typeof toConfig> & LayerConfig & { readonly supergraph: SourceSettings };

interface LayerConfig extends SubgraphReadings {
  readonly tls: TlsCredentials | undefined;
  readonly subgraphTls: SubgraphTlsSettings;
  readonly subgraphErrorsByName: ReadonlyMap<string, SubgraphErrorPolicy>;
  /** How subgraphs send events, by their names in lower case. */
  readonly subscriptionProtocols: ReadonlyMap<string, SubscriptionProtocol>;
  readonly subgraphUrlLists: ReadonlyMap<string, readonly string[]> | undefined;
  readonly configuration: Configuration;
  /** Whether authentication is off because nobody has configured it. */
  readonly isAuthDefaulted?: boolean;
  readonly headerRules: Configuration['headerRules'];
  readonly env: Values;
}

/** One graph, and where it is served. */
export interface GraphConfig {
  readonly place: GraphPlace;
  readonly config: Config;
}

/** The settings of the process, and its graphs: one or more. */
export type ProcessConfig = Omit<Config, 'supergraph'> & { readonly graphs: readonly GraphConfig[] };

/**
 * Reads the settings: from the command line, else from the environment, else from the configuration file. `args` are those after the program's
 * name. Several graphs have a file each, and what it leaves out comes from the process. `accepted` has the texts of configuration files that are not read
 * again. Rejects with SettingsError that names every invalid value.
 */
export async function readConfig(
  args: readonly string[] = process.argv.slice(2),
  environment: NodeJS.ProcessEnv = process.env,
  accepted?: AcceptedFiles,
): Promise<ProcessConfig> {
  const written = omitEmpty({ ...environment, ...readCommandLine(args).settings });
  const configuration = await loadConfiguration(written['TRESTLE_CONFIG'], environment, accepted);
  const isAuthDefaulted = !isAuthConfigured(written, configuration);
  const given = isAuthDefaulted ? { ...written, AUTH: 'off' } : written;
  const faults = new SettingsFaults();
  const named = readGraphs({ ...configuration.values, ...given }, configuration.graphs, (graph, key, message) => {
    faults.add(describeGraphFault({ graph, key, message }, configuration));
  });
  const role = named ? 'process' : 'only graph';
  const own = readLayer({ configuration, given, role }, faults);
  const places = named?.map(({ place }) => place);
  if (own) findPathFaults(own, places, createAddFault({ configuration, given }, faults));
  const inherited = inherit({ ...configuration.values, ...given });
  const loaded = await Promise.all((named ?? []).map(({ file }) => loadConfiguration(file, environment, accepted)));
  const graphs = (named ?? []).map(({ place }, i) => {
    const graphConfiguration = loaded[i] as Configuration;
    for (const fault of findMisplaced(graphConfiguration)) faults.add(fault);
    return { place, config: readLayer({ configuration: graphConfiguration, given: {}, inherited, role: 'graph' }, faults) as Config };
  });
  for (const fault of findSharedCopies(graphs)) faults.add(fault);
  faults.report();
  // Without a fault there are all values.
  const process = { ...(own as Config), isAuthDefaulted };
  return { ...process, graphs: named ? graphs : [{ place: EVERYWHERE, config: process }] };
}

interface Layer {
  readonly configuration: Configuration;
  /** The settings that do not come from a file. */
  readonly given: Readonly<Record<string, string>>;
  /** The settings of the process, for one of several graphs. */
  readonly inherited?: Readonly<Record<string, string>>;
  /** A process with several graphs has no supergraph by itself, and needs no keys. */
  readonly role: 'only graph' | 'process' | 'graph';
}

/** Reads one configuration file with what it is joined with. Adds every fault; undefined, or incomplete, after one. */
function readLayer({ configuration, given, inherited = {}, role }: Layer, faults: SettingsFaults) {
  const env: Values = { ...inherited, ...configuration.values, ...given };
  for (const fault of configuration.faults) faults.add(fault);
  const values = faults.attempt(() => readSettings(settings, env));
  const readByName = <Choice extends string>(prefix: string, choices: readonly Choice[]) =>
    faults.attempt(() => readChoices(prefix, choices, env)) ?? new Map<string, Choice>();
  const subgraphErrorsByName = readByName('SUBGRAPH_ERRORS_', SUBGRAPH_ERROR_POLICIES);
  const subscriptionProtocols = readByName('SUBGRAPH_SUBSCRIPTION_PROTOCOL_', SUBSCRIPTION_PROTOCOLS);
  const stages: StageChoices = faults.attempt(() => readStages(env)) ?? new Map();
  const listSizes = faults.attempt(() => readListSizes(env)) ?? {};
  const addFault = createAddFault({ configuration, given: { ...inherited, ...given } }, faults);
  if (!values) return undefined;
  // Credentials cannot be checked without keys. When the file cannot be read, or has a fault at them, it may name them, so no fault is reported.
  const hasFaultyKeys = !configuration.isWellFormed || KEY_SETTINGS.some((name) => hasFault(name, { configuration }));
  if (values.AUTH && role !== 'process' && !hasFaultyKeys)
    if (configuration.file !== undefined && !hasTokenKeys(values) && !values.TRUSTED_ISSUERS_FILE?.length)
      faults.add(configuration.describe('authentication', AUTH_NEEDS_KEYS));
    else
      faults.attempt(() => {
        requireTokenKeys(values, { needsOwn: false });
      });
  const tls = faults.attempt(() => readServerTls(values, addFault));
  const subgraphTls = readSubgraphTls(env, {
    configuration,
    addFault,
    addLine: (line) => {
      faults.add(line);
    },
  });
  // Each of several graphs may have a policy of its own.
  const policies = { all: role === 'process' ? 'pass' : toErrorPolicy(values), bySubgraph: subgraphErrorsByName } as const;
  const subgraphs = readSubgraphs(values, env, { policies, faults });
  const subgraphUrlLists = faults.attempt(() => readUrlLists(env, configuration));
  // A graph that names other stages than the process may inherit settings of stages that it does not call.
  const isCalled = ([stage]: readonly [string, unknown]) => values.COPROCESSOR_STAGES.includes(stage);
  findCombinationFaults(values, {
    isProcess: role === 'process',
    hasClaimRules: hasClaims(configuration.headerRules),
    hasCallbacks: [...subscriptionProtocols.values()].includes('callback'),
    stages: role === 'graph' ? new Map([...stages].filter(isCalled)) : stages,
    addFault,
  });
  if (role === 'process') refuseGraphSettings(env, addFault);
  const isSourceFaulty = !configuration.isWellFormed || configuration.isFaulty('supergraph');
  const findDefault = () => (isSourceFaulty ? undefined : faults.attempt(findCheckedInSupergraph));
  const supergraph = role === 'process' ? undefined : chooseSource(values, { env, addFault, findDefault });
  const { headerRules } = configuration;
  return {
    ...toConfig(values, env, { listSizes, stages }),
    ...{
      tls,
      subgraphTls,
      ...subgraphs,
      subgraphUrlLists,
      subgraphErrorsByName,
      subscriptionProtocols,
      configuration,
      headerRules,
      env,
      supergraph,
    },
  };
}

function describeGraphFault(
  { graph, key, message }: { readonly graph: string; readonly key: string; readonly message: string },
  { graphs, describe }: Configuration,
): string {
  const written = graphs.find((name) => name.toLowerCase() === graph);
  return written === undefined
    ? `GRAPH_${key.toUpperCase()}_${graph.toUpperCase()}: ${message}`
    : describe(`graphs.${written}`, `\`${key}\` ${message}`);
}

type SettingValues = ReturnType<typeof readSettings<typeof settings>>;
type Values = Readonly<Record<string, string | undefined>>;

function omitEmpty(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter((each): each is [string, string] => Boolean(each[1])));
}

/** Settings of what has a name. */
interface NamedSettings {
  readonly listSizes: Limits['assumedListSizes']['bySubgraph'];
  readonly stages: StageChoices;
}

/** Puts the settings in the form in which the parts of the gateway take them. */
function toConfig(values: SettingValues, env: Values, { listSizes, stages }: NamedSettings) {
  return {
    ...values,
    // Without credentials requests are counted by address only, and behind another gateway or proxy all clients may have one address.
    hasRateLimits: values.AUTH || Boolean(env['RATE_LIMIT_ANONYMOUS_PER_MIN']),
    subgraphUrls: readFamily('SUBGRAPH_URL_', env),
    subgraphSubscriptionUrls: readFamily('SUBGRAPH_WS_URL_', env),
    subgraphErrors: toErrorPolicy(values),
    port: values.PORT ?? values.GATEWAY_PORT,
    signInFields: new Set(values.SIGN_IN_FIELDS),
    forwardHeaders: values.FORWARD_HEADERS.map(toLowerCase),
    forwardMutationHeaders: values.FORWARD_MUTATION_HEADERS.map(toLowerCase),
    forwardResponseHeaders: values.FORWARD_RESPONSE_HEADERS.map(toLowerCase),
    labels: { active: values.OVERRIDE_LABELS, header: values.OVERRIDE_LABELS_HEADER },
    extensions: {
      file: values.EXTENSIONS_FILE,
      coprocessor: toCoprocessor(values, stages),
      timeoutMs: values.EXTENSION_TIMEOUT_MS,
    },
    responseCache: {
      store: values.RESPONSE_CACHE,
      contents: values.RESPONSE_CACHE_CONTENTS,
      maxBytes: values.RESPONSE_CACHE_BYTES,
      sharing: values.RESPONSE_CACHE_SHARING,
      staleSeconds: values.RESPONSE_CACHE_STALE_SECONDS,
      redisUrl: values.REDIS_URL,
      timeoutMs: values.RESPONSE_CACHE_TIMEOUT_MS,
    },
    sockets: {
      maxSockets: values.MAX_SOCKETS,
      maxOperations: values.MAX_OPERATIONS_PER_SOCKET,
      maxMessageBytes: values.MAX_MESSAGE_BYTES,
      initTimeoutMs: values.CONNECTION_INIT_TIMEOUT_MS,
      pingIntervalMs: values.PING_INTERVAL_MS,
      closeTimeoutMs: values.SLOW_CONSUMER_TIMEOUT_MS,
      queue: { policy: values.SLOW_CONSUMER, maxMessages: values.SLOW_CONSUMER_MESSAGES, maxBytes: values.SLOW_CONSUMER_BYTES },
    },
    sendBuffers: { maxBytes: values.SLOW_CONSUMER_TOTAL_BYTES, stallTimeoutMs: values.SLOW_CONSUMER_TIMEOUT_MS },
    subscriptions: { maxSubscriptions: values.MAX_SUBSCRIPTIONS, reconnectMs: values.SUBSCRIPTION_RECONNECT_MS },
    limits: toLimits(values, listSizes),
  };
}

/** Returns the path of the repository's own supergraph. Throws SettingsError outside the repository. */
function findCheckedInSupergraph(): string {
  const file = schemaPath('supergraph.graphql');
  if (!existsSync(file))
    throw new SettingsError('SUPERGRAPH_PATH: no supergraph is given. Name its file with --supergraph, or configure a source.');
  return file;
}

function toLowerCase(name: string): string {
  return name.toLowerCase();
}

/** Stops @apollo/gateway from reporting to its vendor every hour. Must be called before it is created. */
export function silenceVendorTelemetry(): void {
  process.env['APOLLO_TELEMETRY_DISABLED'] = 'true';
}
