/** Formats the errors of a subgraph: with a code and the request id, and masked unless they are meant for the client (contract §3). */
import type { ApolloServerPlugin } from '@apollo/server';
import { unwrapResolverError } from '@apollo/server/errors';
import type { Log } from '@trestle/log';
import { type ErrorCode, Fault, INTERNAL_ERROR_MESSAGE } from '@trestle/schema/errors';
import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import type { Denial, RequestContext } from '../request/context.ts';
import { toFaultExtensions } from '../request/fault-extensions.ts';
import { toDatabaseFault } from '../database/database-faults.ts';

/** Apollo's own codes; all of them stand for an error of the client. */
const APOLLO_CODES: Readonly<Record<string, ErrorCode>> = {
  GRAPHQL_PARSE_FAILED: 'VALIDATION_ERROR',
  GRAPHQL_VALIDATION_FAILED: 'VALIDATION_ERROR',
  BAD_USER_INPUT: 'VALIDATION_ERROR',
  BAD_REQUEST: 'VALIDATION_ERROR',
  OPERATION_RESOLUTION_FAILURE: 'VALIDATION_ERROR',
};

/** Formats an error for the client. An error that is not meant for the client becomes INTERNAL_ERROR. */
export function formatError(formatted: GraphQLFormattedError, error: unknown): GraphQLFormattedError {
  const cause = causeOf(error);
  const place = { ...(formatted.path && { path: formatted.path }), ...(formatted.locations && { locations: formatted.locations }) };
  const fault = cause instanceof Fault ? cause : toDatabaseFault(cause);
  if (fault) {
    const { code, message } = fault;
    const requestId = formatted.extensions?.['requestId'];
    const shown = { ...toFaultExtensions(fault), ...(requestId !== undefined && { requestId }) };
    return { message, ...place, extensions: { code, ...shown } };
  }
  const code = isClientError(error) ? APOLLO_CODES[String(formatted.extensions?.['code'])] : undefined;
  if (code) return { message: formatted.message, ...place, extensions: { code } };
  return { message: INTERNAL_ERROR_MESSAGE, ...place, extensions: { code: 'INTERNAL_ERROR' } };
}

/** Creates the plugin that logs unexpected errors and completes the errors of each response: see `completeErrors`. */
export function createErrorPlugin(log: Log): ApolloServerPlugin<RequestContext> {
  return {
    requestDidStart: () =>
      Promise.resolve({
        didEncounterErrors: ({ errors, contextValue: { requestId } }) => {
          logUnexpected(log, errors, requestId);
          return Promise.resolve();
        },
        willSendResponse: ({ contextValue, response: { body } }) => {
          if (body.kind !== 'single') return Promise.resolve();
          const errors = completeErrors(body.singleResult.errors ?? [], contextValue);
          if (errors.length > 0) body.singleResult.errors = errors;
          return Promise.resolve();
        },
      }),
  };
}

/** Logs the errors that clients see as INTERNAL_ERROR. */
export function logUnexpected(log: Log, errors: readonly GraphQLError[], requestId: string): void {
  // An error of the database fails every entity of a batch: it is logged once.
  const causes = new Map(errors.map((error) => [causeOf(error), error]));
  for (const [cause, error] of causes) {
    if (cause instanceof Fault ? cause.code === 'INTERNAL_ERROR' : !isClientError(error))
      log.error('unexpected error', { requestId, error: cause });
  }
}

/** Returns the errors with the request id, and one more for each field that was masked. */
export function completeErrors(
  errors: readonly GraphQLFormattedError[],
  { requestId, denials }: Pick<RequestContext, 'requestId' | 'denials'>,
): GraphQLFormattedError[] {
  return [...errors, ...[...denials.values()].map(toDenialError)].map((error) => ({
    ...error,
    extensions: { ...error.extensions, requestId },
  }));
}

/** Errors of a refused credential and of a subscription have no path, so Apollo does not look for their cause. */
function causeOf(error: unknown): unknown {
  if (!(error instanceof GraphQLError)) return error;
  const { originalError } = error;
  return originalError && !(originalError instanceof GraphQLError) ? originalError : unwrapResolverError(error);
}

/** Faults of documents and variables are plain GraphQLErrors, which Apollo wraps into one with a code. An error of a resolver has another original. */
function isClientError(error: unknown): boolean {
  if (!(error instanceof GraphQLError) || APOLLO_CODES[String(error.extensions['code'])] === undefined) return false;
  return error.originalError === undefined || error.originalError instanceof GraphQLError;
}

function toDenialError({ coordinate, requires, count, path, requiredScopes }: Denial): GraphQLFormattedError {
  const extensions = { code: 'FORBIDDEN', masked: true, coordinate, requires, count };
  const lacked = requiredScopes && { reason: 'insufficient_scope', requiredScopes };
  return { message: `${coordinate} is masked`, path, extensions: { ...extensions, ...lacked } };
}
