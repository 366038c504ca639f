/** How errors leave a subgraph: coded, with the request's id, and masked unless they were meant for the client (contract §3). */
import type { ApolloServerPlugin } from '@apollo/server';
import { unwrapResolverError } from '@apollo/server/errors';
import type { Log } from '@trestle/log';
import { type ErrorCode, Fault } from '@trestle/schema/errors';
import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import type { RequestContext } from './context.ts';

/** Apollo's own codes; all of them are the client's fault. */
const APOLLO_CODES: Readonly<Record<string, ErrorCode>> = {
  GRAPHQL_PARSE_FAILED: 'VALIDATION_ERROR',
  GRAPHQL_VALIDATION_FAILED: 'VALIDATION_ERROR',
  BAD_USER_INPUT: 'VALIDATION_ERROR',
  BAD_REQUEST: 'VALIDATION_ERROR',
  OPERATION_RESOLUTION_FAILURE: 'VALIDATION_ERROR',
};

/** Writes an error for the client; what is not meant for the client becomes INTERNAL_ERROR. */
export function formatError(formatted: GraphQLFormattedError, error: unknown): GraphQLFormattedError {
  const cause = causeOf(error);
  const place = { ...(formatted.path && { path: formatted.path }), ...(formatted.locations && { locations: formatted.locations }) };
  if (cause instanceof Fault) {
    const { code, message, details, retryAfterSeconds: retryAfter } = cause;
    const requestId = formatted.extensions?.['requestId'];
    const shown = {
      ...(details && { details }),
      ...(retryAfter !== undefined && { retryAfter }),
      ...(requestId !== undefined && { requestId }),
    };
    return { message, ...place, extensions: { code, ...shown } };
  }
  const code = isClientError(error) ? APOLLO_CODES[String(formatted.extensions?.['code'])] : undefined;
  if (code) return { message: formatted.message, ...place, extensions: { code } };
  return { message: 'Something went wrong on our side', ...place, extensions: { code: 'INTERNAL_ERROR' } };
}

/** A plugin that logs unexpected errors, and gives every error of a response the request's id and every denial its error. */
export function createErrorPlugin(log: Log): ApolloServerPlugin<RequestContext> {
  return {
    requestDidStart: () =>
      Promise.resolve({
        didEncounterErrors: ({ errors, contextValue: { requestId } }) => {
          for (const error of errors) {
            const cause = unwrapResolverError(error);
            if (cause instanceof Fault ? cause.code === 'INTERNAL_ERROR' : !isClientError(error))
              log.error('unexpected error', { requestId, error: cause });
          }
          return Promise.resolve();
        },
        willSendResponse: ({ contextValue: { requestId, denials }, response: { body } }) => {
          if (body.kind !== 'single') return Promise.resolve();
          const errors = [...(body.singleResult.errors ?? []), ...[...denials.values()].map(toDenialError)];
          if (errors.length > 0)
            body.singleResult.errors = errors.map((error) => ({ ...error, extensions: { ...error.extensions, requestId } }));
          return Promise.resolve();
        },
      }),
  };
}

/** A refused credential has no path, as it comes before any field; Apollo would not look for its cause. It brings its request's id along. */
function causeOf(error: unknown): unknown {
  return error instanceof GraphQLError && error.originalError instanceof Fault ? error.originalError : unwrapResolverError(error);
}

/** graphql-js itself throws plain GraphQLErrors for bad documents and variables; a resolver's error has an original one. */
function isClientError(error: unknown): boolean {
  return error instanceof GraphQLError && error.originalError === undefined && APOLLO_CODES[String(error.extensions['code'])] !== undefined;
}

function toDenialError({
  coordinate,
  requires,
  count,
  path,
}: {
  coordinate: string;
  requires: string;
  count: number;
  path: readonly (string | number)[];
}): GraphQLFormattedError {
  return { message: `${coordinate} is masked`, path, extensions: { code: 'FORBIDDEN', masked: true, coordinate, requires, count } };
}
