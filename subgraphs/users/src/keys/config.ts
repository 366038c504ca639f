/** The settings of the command `keys:rotate`. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SettingsError, readSettings, setting } from '@trestle/env';

/** Reads which files are rotated: those of a deployment, or those of `npm start`. Throws a SettingsError. */
export function readKeysConfig(): { readonly privateFile: string; readonly publicFile: string } {
  const shape = {
    TOKEN_PRIVATE_KEY_FILE: setting.readablePath().optional(),
    TOKEN_PUBLIC_KEY_FILE: setting.readablePath().optional(),
    DATA_DIR: setting.string().default(fileURLToPath(new URL('../../../../.trestle', import.meta.url))),
  };
  const { TOKEN_PRIVATE_KEY_FILE: privateFile, TOKEN_PUBLIC_KEY_FILE: publicFile, DATA_DIR: directory } = readSettings(shape, process.env);
  if ((privateFile === undefined) !== (publicFile === undefined))
    throw new SettingsError('Invalid settings:\n  TOKEN_PRIVATE_KEY_FILE, TOKEN_PUBLIC_KEY_FILE: set both or neither');
  const local = join(directory, 'keys', 'tokens');
  return { privateFile: privateFile ?? join(local, 'private.jwks.json'), publicFile: publicFile ?? join(local, 'public.jwks.json') };
}
