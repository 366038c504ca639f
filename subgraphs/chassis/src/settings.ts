/** The settings that every subgraph has; each config.ts spreads them into its own. */
import { setting } from '@trestle/env';
import { verificationSettings } from '@trestle/identity/settings';
import { LOG_LEVELS } from '@trestle/log';
import { serviceSettings } from '@trestle/service/settings';
import { DATABASE_LIMITS } from './database/database.ts';

/** The settings of a subgraph that publishes revoked tokens itself. */
export const chassisSettings = {
  ...serviceSettings,
  HOST: setting.string().default('127.0.0.1'),
  LOG_LEVEL: setting.choice(...LOG_LEVELS).default('info'),
  ...verificationSettings,
  OTEL_EXPORTER_OTLP_ENDPOINT: setting.url('http:', 'https:').optional(),
  DATABASE_CONNECTIONS: setting.integer(2, 1000).default(DATABASE_LIMITS.connections),
  DATABASE_CONNECT_TIMEOUT_MS: setting.integer(100, 60_000).default(DATABASE_LIMITS.connectTimeoutMs),
  DATABASE_STATEMENT_TIMEOUT_MS: setting.integer(100, 300_000).default(DATABASE_LIMITS.statementTimeoutMs),
  DATABASE_LOCK_TIMEOUT_MS: setting.integer(10, 300_000).default(DATABASE_LIMITS.lockTimeoutMs),
  MUTATION_TIMEOUT_MS: setting.integer(200, 300_000).default(9000),
};

/** The settings of a subgraph that subscribes to revoked tokens. */
export const watcherSettings = { ...chassisSettings, REVOCATIONS_URL: setting.url('http:', 'https:').optional() };

/** Returns the setting of a database's address. */
export const databaseSetting = () => setting.url('postgres:', 'postgresql:');
