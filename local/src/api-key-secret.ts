/** The secret that API keys are hashed with. Generated at the first start and kept in the data directory (contract §1). */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseApiKeySecret } from '@trestle/identity/credentials/api-keys';
import { writePrivateFile } from './data-directory.ts';

const SECRET_BYTES = 32;

/** Holds the secret and the path of its file. */
export interface ApiKeySecret {
  readonly file: string;
  readonly secret: string;
}

/** Returns the secret, and generates it when the file does not exist. Throws when the file is damaged. */
export async function ensureApiKeySecret(directory: string): Promise<ApiKeySecret> {
  const file = join(directory, 'api-keys.secret');
  if (!existsSync(file)) await writePrivateFile(file, randomBytes(SECRET_BYTES).toString('base64url'));
  try {
    return { file, secret: parseApiKeySecret(await readFile(file, 'utf8')) };
  } catch (cause) {
    throw new Error(
      `${file} does not contain the secret of the API keys. Restore it from a backup, or move it to another directory: the next start then ` +
        'generates a new secret, and every API key except those of the demo accounts must be created again.',
      { cause },
    );
  }
}
