/** The keys of the processes of `npm start`. Generated at the first start and kept. */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { writePrivateFile } from './data-directory.ts';

const KEY_BYTES = 32;

/** Holds the paths of the key files. */
export interface SharedKeyFiles {
  /** Authenticates the client id of forwarded requests. */
  readonly clientIdKeyFile: string;
  /** Authenticates subgraphs that read each other's events. */
  readonly eventsKeyFile: string;
  /** Encrypts the secrets of webhooks, for the users subgraph only. With another key every one of them must be rotated. */
  readonly webhookKeyFile: string;
}

/** Returns the paths of the key files, and generates each key whose file does not exist. */
export async function ensureSharedKeys(directory: string): Promise<SharedKeyFiles> {
  return {
    clientIdKeyFile: await ensureKey(directory, 'client-id.key'),
    eventsKeyFile: await ensureKey(directory, 'events.key'),
    webhookKeyFile: await ensureKey(directory, 'webhooks.key'),
  };
}

async function ensureKey(directory: string, name: string): Promise<string> {
  const file = join(directory, name);
  if (!existsSync(file)) await writePrivateFile(file, randomBytes(KEY_BYTES).toString('base64url'));
  return file;
}
