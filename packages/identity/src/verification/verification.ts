/** What a process needs to verify tokens: the sources of keys that run in the background. */
import { readFileSync } from 'node:fs';
import { SettingsError } from '@trestle/env';
import type { Log } from '@trestle/log';
import { type ForeignTokens, openForeignTokens } from './foreign-tokens.ts';
import { type PublicJwk, formatKeySet, parsePublicKeys, toKeySet } from '../tokens/key-set.ts';
import { type KeySource, watchPublicKeys } from '../tokens/key-source.ts';
import { RemoteKeys, fetchJson } from './remote-keys.ts';
import type { Revocations } from '../revocations/revocations.ts';
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

/** What a process needs. */
export interface VerificationNeeds {
  /** Whether our own tokens must be accepted; else other issuers suffice. Default true. */
  readonly needsOwn?: boolean;
}

/** Throws a SettingsError unless there is exactly one source of our keys; it may be missing where other issuers suffice. */
export function requireTokenKeys(settings: VerificationSettings, { needsOwn = true }: VerificationNeeds = {}): void {
  const { TOKEN_PUBLIC_KEY_FILE: file, TOKEN_JWKS_URL: url, TRUSTED_ISSUERS_FILE: issuers = [] } = settings;
  if (file !== undefined && url !== undefined)
    throw new SettingsError('Invalid settings:\n  TOKEN_JWKS_URL: must not be set together with TOKEN_PUBLIC_KEY_FILE');
  if (!hasTokenKeys(settings) && (needsOwn || issuers.length === 0))
    throw new SettingsError(
      `Invalid settings:\n  TOKEN_PUBLIC_KEY_FILE: is required unless TOKEN_JWKS_URL ${needsOwn ? 'is set' : 'or TRUSTED_ISSUERS_FILE is set, or authentication is off (--auth off)'}`,
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
  {
    log,
    revocations,
    ...needs
  }: VerificationNeeds & { readonly log: Pick<Log, 'debug' | 'info' | 'warn' | 'error'>; readonly revocations?: Revocations },
): Promise<Verification> {
  requireTokenKeys(settings, needs);
  const { TRUSTED_ISSUERS_FILE: issuers } = settings;
  const { settled, ...keys } = openOwnKeys(settings, log);
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

/** Opens the source of our public keys; without one no token of ours is accepted. */
function openOwnKeys(
  { TOKEN_PUBLIC_KEY_FILE: path, TOKEN_JWKS_URL: url }: VerificationSettings,
  log: Pick<Log, 'info' | 'warn' | 'error'>,
): KeySource & { readonly settled: Promise<void> } {
  if (path !== undefined) return { ...watchPublicKeys({ path, log }), settled: Promise.resolve() };
  return url === undefined ? NO_KEYS : watchKeyUrl(url, log);
}

const NOTHING = () => undefined;
const NO_KEYS = { settled: Promise.resolve(), find: NOTHING, onChange: NOTHING, publicKeys: () => [], stop: NOTHING };

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
