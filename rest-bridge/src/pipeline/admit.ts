/** Stage 3: identifies the caller, and refuses anonymous callers where the route needs one (spec §5.7). */
import { readBearerToken } from '@trestle/identity';
import type { TokenVerifier } from '@trestle/identity/tokens';
import { fail } from '@trestle/schema/errors';
import type { AdmittedRequest, MatchedRoute, RequestContext } from './context.ts';

/**
 * Returns the request with its caller. Throws UNAUTHORIZED for an invalid credential, and for a missing one when the route needs a
 * caller; VALIDATION_ERROR for several credentials.
 */
export function admit(context: RequestContext, matched: MatchedRoute, verifier: TokenVerifier): AdmittedRequest {
  const { route } = matched.compiled;
  const token = route.ignoresCredential ? undefined : readBearerToken(context.request.rawHeaders);
  if (token !== undefined) return { ...matched, context, caller: verifier.verify(token), authorization: `Bearer ${token}` };
  if (route.needsCaller) throw fail('UNAUTHORIZED', 'Authentication is required. Send an access token in the Authorization header.');
  return { ...matched, context, caller: null, authorization: undefined };
}
