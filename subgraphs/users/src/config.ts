/** The settings of the users process. */
import { chassisSettings, databaseSetting } from '@trestle/chassis/settings';
import { readSettings, setting } from '@trestle/env';

export function readConfig() {
  return readSettings(
    {
      ...chassisSettings,
      USERS_PORT: setting.port().default(4001),
      USERS_DATABASE_URL: databaseSetting(),
      TOKEN_PRIVATE_KEY_FILE: setting.file(),
    },
    process.env,
  );
}

/** The settings of the command `admin:create`. */
export function readAdminConfig() {
  return readSettings({ USERS_DATABASE_URL: databaseSetting() }, process.env);
}
