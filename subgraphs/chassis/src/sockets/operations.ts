/** Executes the operations of a socket: queries and mutations as over HTTP, subscriptions event by event. */
import type { ApolloServer } from '@apollo/server';
import type { Log } from '@trestle/log';
import { type ExecutionArgs, GraphQLError, type GraphQLFormattedError, type GraphQLSchema } from 'graphql';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { Events } from '../events/source-streams/events.ts';
import { completeErrors, formatError, logUnexpected } from '../graphql/errors.ts';
import type { RequestContext } from '../request/context.ts';
import { OperationFailure, type Results, type SocketOperation } from './operation.ts';
import type { Session } from './session.ts';
import { createSubscription } from './subscription.ts';

/** Executes operations. */
export interface SocketOperations {
  /** Returns one result. Its iterator throws OperationFailure for an operation that was not executed. */
  runOnce(operation: SocketOperation): Results;
  /** Returns a result for each event. Its iterator throws OperationFailure, and ends without an error when the session becomes invalid. */
  subscribe(operation: SocketOperation): Results;
  /** Logs unexpected errors, and formats errors for the client. */
  toFormatted(errors: readonly GraphQLError[], session: Session): GraphQLFormattedError[];
}

/** What the operations are created from. */
export interface SocketOperationsOptions {
  readonly schema: GraphQLSchema;
  readonly server: ApolloServer<RequestContext>;
  readonly createContext: (request: RequestContext) => RequestContext;
  readonly events: Events;
  readonly log: Log;
  readonly metrics: Registry;
}

/** Creates the operations of a process, with the metrics `trestle_subscriptions_open` and `trestle_events_delivered_total`. */
export function createSocketOperations({ schema, server, createContext, events, log, metrics }: SocketOperationsOptions): SocketOperations {
  const format = (errors: readonly GraphQLError[], request: RequestContext): GraphQLFormattedError[] => {
    logUnexpected(log, errors, request.requestId);
    return completeErrors(
      errors.map((error) => formatError(error.toJSON(), error)),
      request,
    );
  };
  const toFailure = (error: unknown, session: Session) => new OperationFailure(format([toGraphqlError(error)], session.createRequest()));
  /** The arguments that the start and every event of a subscription have in common. */
  const toArguments = ({ document, operationName, variables, session }: SocketOperation): ExecutionArgs => ({
    schema,
    document,
    operationName: operationName ?? null,
    variableValues: variables ?? null,
    contextValue: createContext(session.createRequest()),
  });
  const subscriptionOptions = { toArguments, createContext, format, toFailure, events, ...createMetrics(metrics) };

  return {
    async *runOnce({ query, operationName, variables, session }) {
      const contextValue = createContext(session.createRequest());
      const { body } = await server.executeOperation(
        { query, ...(operationName && { operationName }), ...(variables && { variables }) },
        { contextValue },
      );
      if (body.kind !== 'single') throw toFailure(new Error('Incremental delivery is not supported.'), session);
      const { data, errors = [] } = body.singleResult;
      // A request error: nothing was executed (GraphQL specification §7.1.2).
      if (data === undefined) throw new OperationFailure(errors);
      yield { ...(errors.length > 0 && { errors }), data };
    },
    subscribe: (operation) => createSubscription(operation, subscriptionOptions),
    toFormatted: (errors, session) => format(errors, session.createRequest()),
  };
}

function createMetrics(metrics: Registry) {
  const open = new Gauge({
    name: 'trestle_subscriptions_open',
    help: 'Subscriptions that are open, by topic.',
    labelNames: ['topic'],
    registers: [metrics],
  });
  const delivered = new Counter({
    name: 'trestle_events_delivered_total',
    help: 'Events that were sent to a subscriber, by topic.',
    labelNames: ['topic'],
    registers: [metrics],
  });
  return { open, delivered };
}

function toGraphqlError(error: unknown): GraphQLError {
  if (error instanceof GraphQLError) return error;
  const originalError = error instanceof Error ? error : new Error(String(error));
  return new GraphQLError(originalError.message, { originalError });
}
