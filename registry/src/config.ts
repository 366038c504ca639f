/** The settings of the registry process and of its command. */
import { DATABASE_LIMITS } from '@trestle/chassis/database/database';
import { databaseSetting } from '@trestle/chassis/settings';
import { readSettings, setting } from '@trestle/env';
import { DEFAULT_POLICY } from '@trestle/graph-checks/policy';
import { LOG_LEVELS } from '@trestle/log';
import { parseSigningKey } from '@trestle/schema/artifact';
import { serviceSettings } from '@trestle/service/settings';
import { telemetrySettings } from '@trestle/telemetry/settings';

/** Reads the settings of the process. Throws a SettingsError that names every invalid one. */
export function readConfig() {
  return readSettings(
    {
      ...serviceSettings,
      ...telemetrySettings,
      HOST: setting.string().default('127.0.0.1'),
      LOG_LEVEL: setting.choice(...LOG_LEVELS).default('info'),
      DATABASE_CONNECTIONS: setting.integer(2, 1000).default(DATABASE_LIMITS.connections),
      REGISTRY_PORT: setting.port().default(4005),
      REGISTRY_DATABASE_URL: databaseSetting(),
      REGISTRY_SIGNING_KEY_FILE: setting.parsedFile(parseSigningKey),
      REGISTRY_SEED: setting.onOff().default(false),
      REGISTRY_USAGE_DAYS: setting.integer(2, 400).default(60),
      REGISTRY_CHECK_DAYS: setting.integer(1, 400).default(30),
      REGISTRY_CHECK_ENOUGH_DAYS: setting.integer(0, 400).default(7),
      REGISTRY_CHECK_ENOUGH_REQUESTS: setting.integer(0, 2_147_483_647).default(100),
      REGISTRY_CHECK_MAX_COST: setting.integer(0, 2_147_483_647).default(0),
      REGISTRY_CHECK_ASSUMED_LIST_SIZE: setting.integer(0, 1_000_000).default(DEFAULT_POLICY.assumedListSize),
    },
    process.env,
  );
}
