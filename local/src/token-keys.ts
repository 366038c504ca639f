/** The key pair of the access tokens: made at the first start, kept from then on (contract §1). */
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { generateTokenKeys } from '@trestle/identity/tokens';
import { writePrivateFile } from './data-directory.ts';

export interface TokenKeyFiles {
  readonly privateKeyFile: string;
  readonly publicKeyFile: string;
}

/** Makes the pair unless it is there. Both appear at once, so that a kill never leaves half a pair. */
export async function ensureTokenKeys(directory: string): Promise<TokenKeyFiles> {
  const pair = join(directory, 'tokens');
  const files = { privateKeyFile: join(pair, 'private.pem'), publicKeyFile: join(pair, 'public.pem') };
  if (existsSync(files.privateKeyFile)) return files;
  const draft = join(directory, 'tokens.draft');
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { recursive: true, mode: 0o700 });
  const { privateKeyPem, publicKeyPem } = generateTokenKeys();
  await writePrivateFile(join(draft, 'private.pem'), privateKeyPem);
  await writePrivateFile(join(draft, 'public.pem'), publicKeyPem);
  await rename(draft, pair);
  return files;
}
