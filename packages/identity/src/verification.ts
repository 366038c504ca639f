/** What a process needs to verify tokens: the sources of keys that run in the background. */
import { readFileSync } from 'node:fs';
import { SettingsError } from '@trestle/env';
import type { Log } from '@trestle/log';
import { type ForeignTokens, openForeignTokens } from './foreign-tokens.ts';
import { type PublicJwk, formatKeySet, parsePublicKeys, toKeySet } from './key-set.ts';
import { type KeySource, watchPublicKeys } from './key-source.ts';
import { RemoteKeys, fetchJson } from './remote-keys.ts';
import type { Revocations } from './revocations.ts';
import { type TokenVerifier, createTokenVerifier } from './token-verifier.ts';
import type { TrustedIssuer } from './trusted-issuers.ts';

/** The settings, read. */
export interface VerificationSettings {
  readonly TOKEN_PUBLIC_KEY_FILE?: string | undefined;
  readonly TOKEN_JWKS_URL?: string | undefined;
  readonly TRUSTED_ISSUERS_FILE?: readonly TrustedIssuer[] | undefined;
}

/** The verification of tokens in a process. */
export interface Verification {
  readonly verifier: TokenVerifier;
  /** Returns our public keys as a JWKS. */
  readonly publicKeys: () => readonly PublicJwk[];
  /** Stops watching and refreshing keys. */
  readonly stop: () => void;
}

/** Returns whether the settings say how our tokens are verified. */
export function hasTokenKeys({ TOKEN_PUBLIC_KEY_FILE: file, TOKEN_JWKS_URL: url }: VerificationSettings): boolean {
  return file !== undefined || url !== undefined;
}

/** Throws a SettingsError unless there is exactly one source of our keys. */
export function requireTokenKeys(settings: VerificationSettings): void {
  const { TOKEN_PUBLIC_KEY_FILE: file, TOKEN_JWKS_URL: url } = settings;
  if ((file === undefined) === (url === undefined))
    throw new SettingsError(
      file === undefined
        ? 'Invalid settings:\n  TOKEN_PUBLIC_KEY_FILE: is required unless TOKEN_JWKS_URL is set'
        : 'Invalid settings:\n  TOKEN_JWKS_URL: must not be set together with TOKEN_PUBLIC_KEY_FILE',
    );
  if (file === undefined) return;
  try {
    parsePublicKeys(readFileSync(file, 'utf8'));
  } catch {
    throw new SettingsError('Invalid settings:\n  TOKEN_PUBLIC_KEY_FILE: must name a JWKS or a PEM file with P-256 keys');
  }
}

/**
 * Starts the verification of tokens. Resolves when the keys were loaded; those of a URL or of another issuer within 3 s, or later in the
 * background: until then their tokens are refused. Throws a SettingsError when the settings are not usable.
 */
export async function startVerification(
  settings: VerificationSettings,
  { log, revocations }: { readonly log: Pick<Log, 'info' | 'warn' | 'error'>; readonly revocations?: Revocations },
): Promise<Verification> {
  requireTokenKeys(settings);
  const { TOKEN_PUBLIC_KEY_FILE: path, TOKEN_JWKS_URL: url, TRUSTED_ISSUERS_FILE: issuers } = settings;
  const { settled, ...keys } =
    path === undefined ? watchKeyUrl(url ?? '', log) : { ...watchPublicKeys({ path, log }), settled: Promise.resolve() };
  const foreign: ForeignTokens | undefined = issuers && openForeignTokens({ issuers, log });
  await Promise.all([settled, foreign?.settled]);
  return {
    verifier: createTokenVerifier({ keys, foreign, ...(revocations && { revocations }) }),
    publicKeys: () => keys.publicKeys(),
    stop() {
      keys.stop();
      foreign?.stop();
    },
  };
}

/** Creates a source of our public keys at a URL, such as `/.well-known/jwks.json` of the bridge. */
function watchKeyUrl(url: string, log: Pick<Log, 'info' | 'warn'>): KeySource & { readonly settled: Promise<void> } {
  let published: readonly PublicJwk[] = [];
  const load = async () => {
    const keys = parsePublicKeys(formatKeySet(((await fetchJson(url)) as { keys: PublicJwk[] }).keys));
    published = keys;
    return toKeySet(keys);
  };
  const remote = new RemoteKeys({ name: 'TOKEN_JWKS_URL', load, log });
  return {
    settled: remote.settled,
    find: (kid, algorithm) => remote.find(kid, algorithm),
    onChange: (listener) => {
      remote.onChange(listener);
    },
    publicKeys: () => published,
    stop: () => {
      remote.stop();
    },
  };
}
