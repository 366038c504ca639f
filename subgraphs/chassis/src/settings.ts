/** The settings that every subgraph has; each config.ts spreads them into its own. */
import { setting } from '@trestle/env';
import { verificationSettings } from '@trestle/identity/settings';
import { LOG_LEVELS } from '@trestle/log';
import { SUBGRAPH_NAMES, type SubgraphName, eventsUrlSettingOf } from '@trestle/schema/subgraphs';
import { serviceSettings } from '@trestle/service/settings';
import { telemetrySettings } from '@trestle/telemetry/settings';
import { DATABASE_LIMITS } from './database/database.ts';

const eventsUrl = () => setting.url('http:', 'https:').optional();
/** `EVENTS_URL_USERS` and so on: where the events of each subgraph are read. */
const eventsUrls = Object.fromEntries(SUBGRAPH_NAMES.map((name) => [eventsUrlSettingOf(name), eventsUrl()] as const)) as Record<
  ReturnType<typeof eventsUrlSettingOf<SubgraphName>>,
  ReturnType<typeof eventsUrl>
>;

const MIN_KEY_CHARACTERS = 32;

/** Returns the key without surrounding white space. Throws an Error for one that is short enough to be guessed. */
function readEventsKey(text: string): string {
  const key = text.trim();
  if (key.length < MIN_KEY_CHARACTERS) throw new Error(`must name a file with at least ${String(MIN_KEY_CHARACTERS)} characters`);
  return key;
}

/** The settings of a subgraph that publishes revoked tokens itself. */
export const chassisSettings = {
  ...serviceSettings,
  HOST: setting.string().default('127.0.0.1'),
  LOG_LEVEL: setting.choice(...LOG_LEVELS).default('info'),
  ...verificationSettings,
  ...telemetrySettings,
  DATABASE_CONNECTIONS: setting.integer(2, 1000).default(DATABASE_LIMITS.connections),
  DATABASE_CONNECT_TIMEOUT_MS: setting.integer(100, 60_000).default(DATABASE_LIMITS.connectTimeoutMs),
  DATABASE_STATEMENT_TIMEOUT_MS: setting.integer(100, 300_000).default(DATABASE_LIMITS.statementTimeoutMs),
  DATABASE_LOCK_TIMEOUT_MS: setting.integer(10, 300_000).default(DATABASE_LIMITS.lockTimeoutMs),
  JOB_HEARTBEAT_MS: setting.integer(100, 60_000).default(5000),
  MUTATION_TIMEOUT_MS: setting.integer(200, 300_000).default(9000),
  EVENTS_KEY_FILE: setting.parsedFile(readEventsKey).optional(),
  EVENTS_RETENTION_HOURS: setting.integer(24, 24 * 365).default(72),
  ...eventsUrls,
  NATS_URL: setting.url('nats:', 'tls:').optional(),
  NATS_PREFIX: setting.string().default('trestle'),
};

/** The settings of a subgraph that subscribes to revoked tokens. */
export const watcherSettings = { ...chassisSettings, REVOCATIONS_URL: setting.url('http:', 'https:').optional() };

/** Returns the setting of a database's address. */
export const databaseSetting = () => setting.url('postgres:', 'postgresql:');
