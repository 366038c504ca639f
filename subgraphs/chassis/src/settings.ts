/** The settings that every subgraph has, to be spread into its own config.ts. */
import { setting } from '@trestle/env';
import { LOG_LEVELS } from '@trestle/log';
import { serviceSettings } from '@trestle/service/settings';

export const chassisSettings = {
  ...serviceSettings,
  HOST: setting.text().default('127.0.0.1'),
  LOG_LEVEL: setting.choice(...LOG_LEVELS).default('info'),
  TOKEN_PUBLIC_KEY_FILE: setting.file(),
  OTEL_EXPORTER_OTLP_ENDPOINT: setting.url('http:', 'https:').optional(),
};

/** For those that do not know of revoked tokens by themselves. */
export const watcherSettings = { ...chassisSettings, REVOCATIONS_URL: setting.url('http:', 'https:').optional() };

export const databaseSetting = () => setting.url('postgres:', 'postgresql:');
