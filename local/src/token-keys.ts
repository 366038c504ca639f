/** The key pair of the access tokens, generated at the first start and kept in the data directory (contract §1). */
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { generateTokenKeys } from '@trestle/identity/tokens';
import { writePrivateFile } from './data-directory.ts';

/** Holds the paths of the key files. */
export interface TokenKeyFiles {
  readonly privateKeyFile: string;
  readonly publicKeyFile: string;
}

/** Returns the key files, and generates them when they do not exist. Both appear together. Throws when the files are not a pair of keys. */
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
      throw new Error('The public key does not match the private key');
  } catch (cause) {
    throw new Error(
      `${pair} does not contain a pair of token keys (private.pem, public.pem): ${cause instanceof Error ? cause.message : String(cause)}. ` +
        'Restore it from a backup, or move the folder: the next start then generates new keys, and all users must log in again.',
      { cause },
    );
  }
}
