/** The keys of the access tokens, generated at the first start and kept in the data directory (contract §1). `npm run keys:rotate` replaces them. */
import { createPrivateKey } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { formatKeySet, parsePublicKeys, parseSigningKey, toPublicJwk } from '@trestle/identity/tokens/key-set';
import { generateTokenKeys } from '@trestle/identity/tokens/tokens';
import { writePrivateFile } from './data-directory.ts';

/** Holds the paths of the key files. */
export interface TokenKeyFiles {
  readonly privateKeyFile: string;
  readonly publicKeyFile: string;
}

/** Returns the key files, and generates them when they do not exist. Both appear together. Throws when the files are not a pair of keys. */
export async function ensureTokenKeys(directory: string): Promise<TokenKeyFiles> {
  const pair = join(directory, 'tokens');
  const files = { privateKeyFile: join(pair, 'private.jwks.json'), publicKeyFile: join(pair, 'public.jwks.json') };
  const pem = join(pair, 'private.pem');
  if (existsSync(pem)) {
    // An earlier version kept the keys in PEM. A start that is interrupted here does the same again.
    await writeKeys(files, await readFile(pem, 'utf8'));
    for (const name of ['public.pem', 'private.pem']) await rm(join(pair, name), { force: true });
  }
  if (existsSync(pair)) {
    await checkPair(pair, files);
    return files;
  }
  const draft = join(directory, 'tokens.draft');
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { recursive: true, mode: 0o700 });
  await writeKeys(
    { privateKeyFile: join(draft, 'private.jwks.json'), publicKeyFile: join(draft, 'public.jwks.json') },
    generateTokenKeys().privateKeyPem,
  );
  await rename(draft, pair);
  return files;
}

async function writeKeys({ privateKeyFile, publicKeyFile }: TokenKeyFiles, privateKeyPem: string): Promise<void> {
  const key = createPrivateKey(privateKeyPem);
  const publicJwk = toPublicJwk(key);
  await writePrivateFile(publicKeyFile, formatKeySet([publicJwk]));
  await writePrivateFile(privateKeyFile, formatKeySet([{ ...publicJwk, ...key.export({ format: 'jwk' }) }]));
}

async function checkPair(pair: string, { privateKeyFile, publicKeyFile }: TokenKeyFiles): Promise<void> {
  try {
    const { kid, key } = parseSigningKey(await readFile(privateKeyFile, 'utf8'));
    const { x, y } = toPublicJwk(key);
    const published = parsePublicKeys(await readFile(publicKeyFile, 'utf8'));
    if (!published.some((jwk) => jwk.kid === kid && jwk.x === x && jwk.y === y))
      throw new Error('The public key does not match the private key');
  } catch (cause) {
    throw new Error(
      `${pair} does not contain a pair of token keys (private.jwks.json, public.jwks.json): ` +
        `${cause instanceof Error ? cause.message : String(cause)}. ` +
        'Restore it from a backup, or move the folder: the next start then generates new keys, and all users must log in again.',
      { cause },
    );
  }
}
