/** The keys by which the registry signs artifacts and gateways verify them. Generated at the first start and kept. */
import { createPublicKey } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { generateSigningKeys, parseSigningKey } from '@trestle/schema/artifact';
import { writePrivateFile } from './data-directory.ts';

/** Holds the paths of the key files. */
export interface RegistryKeyFiles {
  /** Signs, in the registry only. */
  readonly registrySigningKeyFile: string;
  /** For `REGISTRY_PUBLIC_KEY_FILE` of gateways. */
  readonly registryPublicKeyFile: string;
}

/** Returns the key files. Generates the private key when its file does not exist, and derives the public one from it. */
export async function ensureRegistryKeys(directory: string): Promise<RegistryKeyFiles> {
  const files = {
    registrySigningKeyFile: join(directory, 'registry.key'),
    registryPublicKeyFile: join(directory, 'registry.public.pem'),
  };
  if (!existsSync(files.registrySigningKeyFile)) await writePrivateFile(files.registrySigningKeyFile, generateSigningKeys().privateKeyPem);
  if (!existsSync(files.registryPublicKeyFile)) {
    const key = parseSigningKey(await readFile(files.registrySigningKeyFile, 'utf8'));
    await writePrivateFile(files.registryPublicKeyFile, createPublicKey(key).export({ type: 'spki', format: 'pem' }).toString());
  }
  return files;
}
