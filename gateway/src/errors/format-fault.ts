/** Formats a fault as a GraphQL error (GraphQL §7.1.2, contract §3). */
import type { Fault } from '@trestle/schema/errors';
import type { GraphQLFormattedError } from 'graphql';

/** Returns the error for the client. `locations` are those of the document that it concerns. */
export function formatFault(
  { code, message, details }: Fault,
  requestId: string | undefined,
  locations?: GraphQLFormattedError['locations'],
): GraphQLFormattedError {
  const extensions = { code, ...(details && { details }), ...(requestId !== undefined && { requestId }) };
  return { message, ...(locations && { locations }), extensions };
}
