/** The settings of the orders process. */
import { databaseSetting, watcherSettings } from '@trestle/chassis/settings';
import { readSettings, setting } from '@trestle/env';

export function readConfig() {
  return readSettings(
    { ...watcherSettings, ORDERS_PORT: setting.port().default(4002), ORDERS_DATABASE_URL: databaseSetting() },
    process.env,
  );
}
