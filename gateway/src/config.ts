/** Puts the settings of the gateway together: from the command line, else from the environment, else from the configuration file. */
import { existsSync } from 'node:fs';
import { SettingsError, SettingsFaults, readFamily, readSettings, readTls } from '@trestle/env';
import { requireTokenKeys } from '@trestle/identity/verification';
import { schemaPath } from '@trestle/schema/sdl';
import { readCommandLine } from './command-line.ts';
import { chooseSource } from './configuration/choose-source.ts';
import { ENTRIES, type FileSettingName } from './configuration/entries.ts';
import { type Configuration, loadConfiguration } from './configuration/load-configuration.ts';
import { settings } from './configuration/settings.ts';
import { hasClaims } from './headers/header-rules.ts';
import { SUBGRAPH_ERROR_POLICIES, type SubgraphErrorPolicy } from './errors/format-error.ts';

const CLAIMS_NEED_AUTH = 'must be on for rules with `claim`: claims of tokens that are not checked could be forged';

/** The settings of the process. */
export type Config = Awaited<ReturnType<typeof readConfig>>;

/**
 * Reads the settings: from the command line, else from the environment, else from the configuration file. `args` are those after the program's
 * name. Rejects with SettingsError that names every invalid value.
 */
export async function readConfig(args: readonly string[] = process.argv.slice(2), environment: NodeJS.ProcessEnv = process.env) {
  const given = omitEmpty({ ...environment, ...readCommandLine(args).settings });
  const configuration = await loadConfiguration(given['TRESTLE_CONFIG'], environment);
  const env = { ...configuration.values, ...given };
  const faults = new SettingsFaults();
  for (const fault of configuration.faults) faults.add(fault);
  const values = faults.attempt(() => readSettings(settings, env));
  const subgraphErrorsByName = faults.attempt(() => readPolicies(env)) ?? new Map<string, SubgraphErrorPolicy>();
  const addFault = (name: string, message: string) => {
    faults.add(describeFault({ name, message }, { configuration, given }));
  };
  const findDefault = () => faults.attempt(findCheckedInSupergraph);
  const checked = values && checkTogether(values, faults);
  if (values?.AUTH === false && hasClaims(configuration.headerRules)) addFault('AUTH', CLAIMS_NEED_AUTH);
  const supergraph = values && chooseSource(values, { env, addFault, findDefault });
  faults.report();
  // Without a fault there are all values.
  const { values: valid, tls } = checked as NonNullable<typeof checked>;
  return {
    ...{ ...toConfig(valid, env), tls, subgraphErrorsByName, configuration, headerRules: configuration.headerRules, env },
    supergraph: supergraph as NonNullable<typeof supergraph>,
  };
}

interface Fault {
  /** An environment variable. */
  readonly name: string;
  readonly message: string;
}

interface FaultPlaces {
  readonly configuration: Configuration;
  /** What does not come from the file. */
  readonly given: Readonly<Record<string, string>>;
}

/** Returns the fault with its place in the file, when the value comes from there. */
function describeFault({ name, message }: Fault, { configuration, given }: FaultPlaces): string {
  const isInFile = Object.hasOwn(ENTRIES, name) && configuration.values[name] !== undefined && given[name] === undefined;
  return isInFile ? configuration.describe(ENTRIES[name as FileSettingName].path, message) : `${name}: ${message}`;
}

type Values = ReturnType<typeof readSettings<typeof settings>>;

/** Reads what several settings say together. Adds every fault. */
function checkTogether(values: Values, faults: SettingsFaults) {
  // Credentials cannot be checked without keys.
  if (values.AUTH)
    faults.attempt(() => {
      requireTokenKeys(values);
    });
  return { values, tls: faults.attempt(() => readTls(values)) };
}

function omitEmpty(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter((each): each is [string, string] => Boolean(each[1])));
}

/** Puts the settings in the form in which the parts of the gateway take them. */
function toConfig(settings: Values, env: Readonly<Record<string, string | undefined>>) {
  return {
    ...settings,
    // Without credentials there are addresses only, and the gateway may not be the one that clients reach.
    hasRateLimits: settings.AUTH || Boolean(env['RATE_LIMIT_ANONYMOUS_PER_MIN']),
    subgraphUrls: readFamily('SUBGRAPH_URL_', env),
    subgraphSubscriptionUrls: readFamily('SUBGRAPH_WS_URL_', env),
    // Without our credentials the subgraphs are not ours, and clients know the codes of their own subgraphs.
    subgraphErrors: settings.SUBGRAPH_ERRORS ?? (settings.AUTH ? 'mask' : 'pass'),
    port: settings.PORT ?? settings.GATEWAY_PORT,
    signInFields: new Set(settings.SIGN_IN_FIELDS),
    forwardHeaders: settings.FORWARD_HEADERS.map(toLowerCase),
    forwardMutationHeaders: settings.FORWARD_MUTATION_HEADERS.map(toLowerCase),
    forwardResponseHeaders: settings.FORWARD_RESPONSE_HEADERS.map(toLowerCase),
    labels: settings.OVERRIDE_LABELS,
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
  if (!existsSync(file))
    throw new SettingsError('SUPERGRAPH_PATH: no supergraph is given. Name its file with --supergraph, or configure a source.');
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

function toLowerCase(name: string): string {
  return name.toLowerCase();
}

/** Stops @apollo/gateway from reporting to its vendor every hour. Must be called before it is created. */
export function silenceVendorTelemetry(): void {
  process.env['APOLLO_TELEMETRY_DISABLED'] = 'true';
}
