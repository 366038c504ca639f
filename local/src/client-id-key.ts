/** The key with which the processes of `npm start` authenticate the client id of forwarded requests. Generated at the first start and kept. */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { writePrivateFile } from './data-directory.ts';

const KEY_BYTES = 32;

/** Returns the path of the key file, and generates the key when it does not exist. */
export async function ensureClientIdKey(directory: string): Promise<string> {
  const file = join(directory, 'client-id.key');
  if (!existsSync(file)) await writePrivateFile(file, randomBytes(KEY_BYTES).toString('base64url'));
  return file;
}
