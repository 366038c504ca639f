/** Formats a fault as a GraphQL error (GraphQL §7.1.2, contract §3). */
import { toRefusalExtensions } from '@trestle/identity/credentials/challenge';
import type { Fault } from '@trestle/schema/errors';
import { retryAfterOf } from '@trestle/schema/retry-after';
import type { GraphQLFormattedError } from 'graphql';

/** Returns the error for the client. `locations` are those of the document that it concerns. */
export function formatFault(fault: Fault, requestId: string, locations?: GraphQLFormattedError['locations']): GraphQLFormattedError {
  const { code, message, details, rateLimit } = fault;
  const retryAfter = retryAfterOf(fault);
  const extensions = {
    code,
    ...(details && { details }),
    ...(retryAfter !== undefined && { retryAfter }),
    ...rateLimit,
    ...toRefusalExtensions(fault),
    requestId,
  };
  return { message, ...(locations && { locations }), extensions };
}
