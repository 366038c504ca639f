/** The key pair of the access tokens: made at the first start, kept from then on (contract §1). */
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { generateTokenKeys } from '@trestle/identity/tokens';
import { writePrivateFile } from './data-directory.ts';

export interface TokenKeyFiles {
  readonly privateKeyFile: string;
  readonly publicKeyFile: string;
}

/** Makes the pair unless it is there. Both appear at once, so that a kill never leaves half a pair. Throws when the files are no pair of keys. */
export async function ensureTokenKeys(directory: string): Promise<TokenKeyFiles> {
  const pair = join(directory, 'tokens');
  const files = { privateKeyFile: join(pair, 'private.pem'), publicKeyFile: join(pair, 'public.pem') };
  if (existsSync(pair)) {
    await checkPair(pair, files);
    return files;
  }
  const draft = join(directory, 'tokens.draft');
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { recursive: true, mode: 0o700 });
  const { privateKeyPem, publicKeyPem } = generateTokenKeys();
  await writePrivateFile(join(draft, 'private.pem'), privateKeyPem);
  await writePrivateFile(join(draft, 'public.pem'), publicKeyPem);
  await rename(draft, pair);
  return files;
}

async function checkPair(pair: string, { privateKeyFile, publicKeyFile }: TokenKeyFiles): Promise<void> {
  try {
    const own = createPublicKey(createPrivateKey(await readFile(privateKeyFile, 'utf8')));
    if (!own.equals(createPublicKey(await readFile(publicKeyFile, 'utf8'))))
      throw new Error('The public key belongs to another private key');
  } catch (cause) {
    throw new Error(
      `${pair} does not hold a pair of token keys (private.pem, public.pem): ${cause instanceof Error ? cause.message : String(cause)}. ` +
        'Restore it from a copy, or move the folder to another place: the next start then makes new keys, and everybody has to log in again.',
      { cause },
    );
  }
}
