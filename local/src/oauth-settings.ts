/** The settings of the authorization server under `npm start`: its public address, and the key of its cookies, generated at the first start and kept. */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from './config.ts';
import { writePrivateFile } from './data-directory.ts';

const KEY_BYTES = 32;
const LOOPBACK = /^(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/;

/** Returns the path of the key file, and generates the key when it does not exist. */
export async function ensureOAuthKey(directory: string): Promise<string> {
  const file = join(directory, 'oauth.key');
  if (!existsSync(file)) await writePrivateFile(file, randomBytes(KEY_BYTES).toString('base64url'));
  return file;
}

/**
 * Returns the issuer: the origin at which browsers reach the bridge. Undefined for a public address without TLS, where passwords and tokens
 * could be read on their way: there is no authorization server then.
 */
export function toOAuthIssuer({ REST_PORT: port, inherited }: Pick<Config, 'REST_PORT' | 'inherited'>): string | undefined {
  const scheme = inherited.TLS_CERT_FILE === undefined ? 'http' : 'https';
  const address = inherited.PUBLIC_URL ?? `${scheme}://localhost:${String(port)}`;
  if (!URL.canParse(address)) return undefined;
  const { origin, protocol, hostname } = new URL(address);
  return protocol === 'https:' || (protocol === 'http:' && LOOPBACK.test(hostname)) ? origin : undefined;
}
