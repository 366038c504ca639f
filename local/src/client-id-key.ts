/** The key by which the processes of `npm start` believe each other whose request one is: made at the first start, kept from then on. */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { writePrivateFile } from './data-directory.ts';

const KEY_BYTES = 32;

/** Makes the key unless it is there. Returns its file. */
export async function ensureClientIdKey(directory: string): Promise<string> {
  const file = join(directory, 'client-id.key');
  if (!existsSync(file)) await writePrivateFile(file, randomBytes(KEY_BYTES).toString('base64url'));
  return file;
}
