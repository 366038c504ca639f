/** Stage 2: who is calling, and whether the row lets him in at all (spec §5.7). */
import { type Caller, readBearerToken } from '@trestle/identity';
import type { TokenVerifier } from '@trestle/identity/tokens';
import { fail } from '@trestle/schema/errors';
import type { Row } from '../routes/row.ts';

export interface Admitted {
  readonly caller: Caller | null;
  /** The credential as sent, for the gateway, which verifies it again. */
  readonly authorization: string | undefined;
}

/** Throws UNAUTHORIZED for an invalid credential or a missing one where one is needed, VALIDATION_ERROR for several. */
export function admit(row: Row, rawHeaders: readonly string[], verifier: TokenVerifier): Admitted {
  const token = readBearerToken(rawHeaders);
  if (token === undefined && row.needsCaller) throw fail('UNAUTHORIZED', 'Authentication is required');
  return token === undefined
    ? { caller: null, authorization: undefined }
    : { caller: verifier.verify(token), authorization: `Bearer ${token}` };
}
