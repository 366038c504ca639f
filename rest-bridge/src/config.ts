/** The settings of the bridge's process. */
import { readSettings, setting } from '@trestle/env';
import { LOG_LEVELS } from '@trestle/log';

export function readConfig() {
  return readSettings(
    {
      REST_PORT: setting.port().default(3000),
      HOST: setting.text().default('127.0.0.1'),
      LOG_LEVEL: setting.choice(...LOG_LEVELS).default('info'),
      GATEWAY_URL: setting.url('http:', 'https:').default('http://127.0.0.1:4000/graphql'),
      GATEWAY_TIMEOUT_MS: setting.integer(100, 300_000).default(15_000),
      TOKEN_PUBLIC_KEY_FILE: setting.file(),
    },
    process.env,
  );
}
