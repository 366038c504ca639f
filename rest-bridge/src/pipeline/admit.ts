/** Stage 3: refuses invalid credentials, anonymous callers where the route needs one, and callers that lack its scopes (spec §5.7). */
import { holdsOneOf, insufficientScope, nearestAlternative } from '@trestle/identity/required-scopes';
import { fail } from '@trestle/schema/errors';
import type { AdmittedRequest, MatchedRoute, RequestContext } from './context.ts';
import { ANONYMOUS, type Identity } from './identify.ts';

/**
 * Returns the request with its caller. Throws UNAUTHORIZED for an invalid credential, and for a missing one when the route needs a caller;
 * FORBIDDEN for a credential without the scopes of the route; VALIDATION_ERROR for several credentials; SERVICE_UNAVAILABLE when an API key could not be checked.
 */
export function admit(context: RequestContext, matched: MatchedRoute, identity: Identity): AdmittedRequest {
  const { route, requiredScopes } = matched.compiled;
  const { caller, authorization, error } = route.ignoresCredential ? withoutCredential(identity) : identity;
  if (error) throw error;
  if (!caller && route.needsCaller)
    throw fail('UNAUTHORIZED', 'Authentication is required. Send an access token in the Authorization header, or an API key in X-API-Key.');
  if (caller && requiredScopes && !holdsOneOf(caller.scopes, requiredScopes))
    throw insufficientScope(`${route.method} ${route.path}`, nearestAlternative(requiredScopes, caller.scopes));
  const { target, compiled, params } = matched;
  return { target, compiled, params, context, caller, authorization };
}

/** Returns an anonymous identity; several credentials stay an error, whatever they are worth (contract §4). */
function withoutCredential({ error }: Identity): Identity {
  return error?.code === 'VALIDATION_ERROR' ? { ...ANONYMOUS, error } : ANONYMOUS;
}
