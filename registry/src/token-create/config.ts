/** The settings of the command `registry:token`. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { databaseSetting } from '@trestle/chassis/settings';
import { readSettings, setting } from '@trestle/env';

/** Reads where the database is: that of a deployment, or that of `npm start`. Throws a SettingsError, or an Error when neither is there. */
export async function readTokenConfig(): Promise<{ readonly url: string }> {
  const shape = {
    REGISTRY_DATABASE_URL: databaseSetting().optional(),
    DATA_DIR: setting.string().default(fileURLToPath(new URL('../../../.trestle', import.meta.url))),
  };
  const { REGISTRY_DATABASE_URL: given, DATA_DIR: directory } = readSettings(shape, process.env);
  if (given !== undefined) return { url: given };
  // The image, where the database is always given, does not have the embedded server.
  const { findEmbeddedPostgres } = await import('@trestle/postgres/embedded');
  const url = (await findEmbeddedPostgres(join(directory, 'postgres')))?.('trestle_registry');
  if (url === undefined) throw new Error(`No server runs in ${directory}. Run "npm start", or set REGISTRY_DATABASE_URL.`);
  return { url };
}
