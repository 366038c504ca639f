/** Stage 3: who is calling, and whether the row lets him in at all (spec §5.7). */
import { type Caller, readBearerToken } from '@trestle/identity';
import type { TokenVerifier } from '@trestle/identity/tokens';
import { fail } from '@trestle/schema/errors';

export interface Admitted {
  readonly caller: Caller | null;
  /** The credential as sent, for the gateway, which verifies it again. */
  readonly authorization: string | undefined;
}

/** Whoever calls a row that ignores credentials. */
export const ANONYMOUS: Admitted = { caller: null, authorization: undefined };

/** Throws UNAUTHORIZED for an invalid credential or a missing one where one is needed, VALIDATION_ERROR for several. */
export function admit(rawHeaders: readonly string[], verifier: TokenVerifier, { needsCaller }: { needsCaller: boolean }): Admitted {
  const token = readBearerToken(rawHeaders);
  if (token === undefined && needsCaller) throw fail('UNAUTHORIZED', 'Authentication is required');
  return token === undefined ? ANONYMOUS : { caller: verifier.verify(token), authorization: `Bearer ${token}` };
}
