/** The check of credentials of a graph: tokens, revocations and API keys. */
import { type ApiKeyExchange, createApiKeyExchange, isForeignKey } from '@trestle/identity/credentials/api-key-exchange';
import { watchRevocations } from '@trestle/identity/revocations/revocation-watch';
import { createRevocations } from '@trestle/identity/revocations/revocations';
import type { TokenVerifier } from '@trestle/identity/verification/token-verifier';
import { toRevocationSeconds } from '@trestle/identity/verification/trusted-issuers';
import { hasTokenKeys, startVerification } from '@trestle/identity/verification/verification';
import type { Log } from '@trestle/log';
import type { Registry } from 'prom-client';
import type { Config } from './config.ts';

const AUTH_DEFAULTED =
  'authentication is off, because neither a configuration file nor a setting of authentication was given: credentials go to the subgraphs unchecked';

/** Creates the check of credentials; it has no verifier for a gateway that leaves credentials to its subgraphs. */
export async function createVerifier(config: Config, { log, metrics }: { readonly log: Log; readonly metrics: Registry }) {
  const { REVOCATIONS_URL: url } = config;
  const revocations = createRevocations({ foreignSeconds: toRevocationSeconds(config.TRUSTED_ISSUERS_FILE) });
  const revocationWatch = url === undefined ? undefined : watchRevocations({ url, revocations, log, metrics });
  const verification = config.AUTH ? await startVerification(config, { log, revocations, needsOwn: false }) : undefined;
  if (config.isAuthDefaulted === true) log.warn(AUTH_DEFAULTED);
  // A token that was revoked before must not be accepted after a start.
  if (revocationWatch) await revocationWatch.settled;
  else if (verification) log.warn('REVOCATIONS_URL is not set: revoked tokens are accepted until they expire');
  return {
    verifier: verification?.verifier,
    stop() {
      verification?.stop();
      revocationWatch?.stop();
    },
  };
}

/** Creates the exchange of API keys; undefined for a gateway that accepts none. */
export function createApiKeys(
  config: Config,
  { verifier, metrics }: { readonly verifier: TokenVerifier | undefined; readonly metrics: Registry },
): ApiKeyExchange | undefined {
  const { API_KEY_EXCHANGE_URL: url } = config;
  if (!verifier || url === undefined) return undefined;
  // Where no token is of ours, no key is either.
  return createApiKeyExchange({ url, verifier, metrics, ...(!hasTokenKeys(config) && { isKey: isForeignKey }) });
}
