/** The settings of the command `search:rebuild`. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { databaseSetting } from '@trestle/chassis/settings';
import { readSettings, setting } from '@trestle/env';
import { findEmbeddedPostgres } from '@trestle/postgres/embedded';

/** Reads where the database is: that of a deployment, or that of `npm start`. Throws a SettingsError, or an Error when neither is there. */
export async function readRebuildConfig(): Promise<{ readonly url: string }> {
  const shape = {
    CONTENT_DATABASE_URL: databaseSetting().optional(),
    DATA_DIR: setting.string().default(fileURLToPath(new URL('../../../../.trestle', import.meta.url))),
  };
  const { CONTENT_DATABASE_URL: given, DATA_DIR: directory } = readSettings(shape, process.env);
  const url = given ?? (await findEmbeddedPostgres(join(directory, 'postgres')))?.('trestle_content');
  if (url === undefined) throw new Error(`No server runs in ${directory}. Run "npm start", or set CONTENT_DATABASE_URL.`);
  return { url };
}
