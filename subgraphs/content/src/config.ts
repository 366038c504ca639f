/** The settings of the content process. */
import { databaseSetting, watcherSettings } from '@trestle/chassis/settings';
import { readSettings, setting } from '@trestle/env';

export function readConfig() {
  return readSettings(
    {
      ...watcherSettings,
      CONTENT_PORT: setting.port().default(4003),
      CONTENT_DATABASE_URL: databaseSetting(),
    },
    process.env,
  );
}
