/** What the tests of tokens and keys of other issuers share. */
import type { Log } from '@trestle/log';
import { createFixedKeys } from '../tokens/key-source.ts';
import { createRevocations } from '../revocations/revocations.ts';
import { generateTokenKeys } from '../tokens/tokens.ts';
import { type ForeignTokens, openForeignTokens } from './foreign-tokens.ts';
import { type TestIssuer, startTestIssuer } from './test-issuer.ts';
import { createTokenVerifier } from './token-verifier.ts';
import { parseTrustedIssuers } from './trusted-issuers.ts';

/** Part of the message of a refused token. */
export const REJECTED = 'invalid, expired or revoked';
/** How the tests map the claims of the provider. */
export const MAPPING = {
  name: 'acme',
  audience: 'trestle-api',
  roles: { claim: ['realm', 'roles'], map: { staff: 'MODERATOR', boss: 'ADMIN' }, default: 'USER' },
  scopes: { claim: 'scope', map: { 'shop.read': ['orders:read', 'berths:read'] } },
  plan: 'pro',
};

/** Parses issuers that are written as JSON. Throws when one is not valid. */
export const parseIssuers = (...issuers: object[]) => parseTrustedIssuers(JSON.stringify({ issuers }));

/** A provider, and verifiers that trust it. */
export interface ForeignTokenTests {
  readonly provider: TestIssuer;
  /** Returns a verifier that trusts the provider by MAPPING with `changes`, once its keys are loaded. */
  readonly open: (
    changes?: object,
    now?: () => number,
  ) => Promise<{
    readonly verifier: ReturnType<typeof createTokenVerifier>;
    readonly revocations: ReturnType<typeof createRevocations>;
  }>;
  /** Ends all verifiers, and has the provider begin anew. */
  readonly reset: () => Promise<void>;
}

/** Starts a provider over HTTP. `log` gets what verifiers log. */
export async function startForeignTokenTests(log: Log): Promise<ForeignTokenTests> {
  const provider = await startTestIssuer();
  const opened: ForeignTokens[] = [];
  return {
    provider,
    open: async (changes = {}, now = Date.now) => {
      const issuers = parseIssuers({ ...MAPPING, issuer: provider.issuer, ...changes });
      const foreign = openForeignTokens({ issuers, log, now, refreshMs: 60_000, retryMs: 1 });
      opened.push(foreign);
      await foreign.settled;
      const revocations = createRevocations();
      const keys = createFixedKeys(generateTokenKeys().publicKeyPem);
      return { revocations, verifier: createTokenVerifier({ keys, foreign, revocations, now }) };
    },
    reset: async () => {
      for (const each of opened.splice(0)) each.stop();
      provider.status = 200;
      provider.discovery = { issuer: provider.issuer, jwks_uri: `${provider.issuer}/keys` };
      await provider.rotate('first');
    },
  };
}

/** Resolves once `accept` does not throw: keys are loaded in the background when a token names an unknown one. */
export async function untilAccepted(accept: () => unknown): Promise<void> {
  for (;;) {
    try {
      accept();
      return;
    } catch {
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}
