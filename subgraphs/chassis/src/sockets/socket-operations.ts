/** Runs the operations of a socket: queries and mutations as over HTTP, subscriptions event by event. */
import type { ApolloServer } from '@apollo/server';
import type { Log } from '@trestle/log';
import { fail } from '@trestle/schema/errors';
import {
  type DocumentNode,
  type ExecutionArgs,
  type FormattedExecutionResult,
  GraphQLError,
  type GraphQLFormattedError,
  type GraphQLSchema,
  createSourceEventStream,
  execute,
} from 'graphql';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { RequestContext } from '../request/context.ts';
import { completeErrors, formatError, logUnexpected } from '../graphql/errors.ts';
import type { Happening } from '../events/event-hub.ts';
import type { EventStream } from '../events/event-stream.ts';
import type { Events } from '../events/events.ts';
import { Listening } from '../events/listening.ts';
import type { Resume } from './resume.ts';
import type { Session } from './session.ts';

export interface SocketOperation {
  readonly document: DocumentNode;
  /** The document as it was sent. */
  readonly query: string;
  readonly operationName: string | undefined;
  readonly variables: Record<string, unknown> | undefined;
  readonly session: Session;
  readonly resume: Resume | undefined;
}

/** In the place of results: why there are none, or no more. */
export class OperationFailure extends Error {
  readonly errors: readonly GraphQLFormattedError[];

  constructor(errors: readonly GraphQLFormattedError[]) {
    super('The operation failed');
    this.errors = errors;
  }
}

export type Results = AsyncGenerator<FormattedExecutionResult, void, undefined>;

export interface SocketOperations {
  /** One result. Its iterator throws OperationFailure for what could not even begin. */
  runOnce(operation: SocketOperation): Results;
  /** A result for each event. Its iterator throws OperationFailure, and ends without a word when the session is over. */
  subscribe(operation: SocketOperation): Results;
  /** How an error is told. */
  toFormatted(errors: readonly GraphQLError[], session: Session): GraphQLFormattedError[];
}

export interface SocketOperationsOptions {
  readonly schema: GraphQLSchema;
  readonly server: ApolloServer<RequestContext>;
  readonly createContext: (request: RequestContext) => RequestContext;
  readonly events: Events;
  readonly log: Log;
  readonly metrics: Registry;
}

export function createSocketOperations({ schema, server, createContext, events, log, metrics }: SocketOperationsOptions): SocketOperations {
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

  const finish = (errors: readonly GraphQLError[], request: RequestContext): GraphQLFormattedError[] => {
    logUnexpected(log, errors, request.requestId);
    return completeErrors(
      errors.map((error) => formatError(error.toJSON(), error)),
      request,
    );
  };
  const fails = (error: unknown, session: Session) => new OperationFailure(finish([toGraphqlError(error)], session.createRequest()));

  /** The arguments that the beginning and every event have in common. */
  const toArguments = ({ document, operationName, variables, session }: SocketOperation): ExecutionArgs => ({
    schema,
    document,
    operationName: operationName ?? null,
    variableValues: variables ?? null,
    contextValue: createContext(session.createRequest()),
  });

  /** What the subscription's resolver wants to listen to. */
  async function readListening(operation: SocketOperation): Promise<Listening> {
    const source = await createSourceEventStream(toArguments(operation));
    if (source instanceof Listening) return source;
    const [error] = 'errors' in source ? (source.errors ?? []) : [];
    // What graphql-js itself finds wrong before any resolver was called is the client's fault: variables.
    if (error && !error.originalError) throw fail('VALIDATION_ERROR', error.message);
    throw error ?? new Error('The resolver gives nothing to listen to');
  }

  /** Loaders and masks are of one event alone. */
  async function toResult(operation: SocketOperation, topic: string, { row, position }: Happening): Promise<FormattedExecutionResult> {
    const request = operation.session.createRequest();
    const contextValue = createContext(request);
    const { data, errors = [] } = await execute({ ...toArguments(operation), contextValue, rootValue: { [topic]: row } });
    const finished = finish(errors, request);
    return {
      ...(finished.length > 0 && { errors: finished }),
      data: data ?? null,
      ...(operation.resume && { extensions: { position: String(position) } }),
    };
  }

  return {
    async *runOnce({ query, operationName, variables, session }) {
      const contextValue = createContext(session.createRequest());
      const { body } = await server.executeOperation(
        { query, ...(operationName && { operationName }), ...(variables && { variables }) },
        { contextValue },
      );
      if (body.kind !== 'single') throw fails(new Error('The answer comes in parts'), session);
      const { data, errors = [] } = body.singleResult;
      // The request itself was refused: nothing was run.
      if (data === undefined) throw new OperationFailure(errors);
      yield { ...(errors.length > 0 && { errors }), data };
    },

    subscribe(operation) {
      const { session, resume } = operation;
      const state: { isDone: boolean; told: number; topic?: string; stream?: EventStream } = { isDone: false, told: 0 };

      const stop = () => {
        if (state.isDone) return;
        state.isDone = true;
        state.stream?.stop();
        if (state.topic !== undefined) open.dec({ topic: state.topic });
      };

      /** Gives the first message of a subscriber that asks for positions. */
      async function start(): Promise<FormattedExecutionResult | undefined> {
        const listening = await readListening(operation);
        if (state.isDone) return undefined;
        state.stream = events.open(listening, resume?.after);
        const position = await state.stream.start();
        if (state.isDone as boolean) return undefined;
        state.topic = listening.topic;
        open.inc({ topic: listening.topic });
        return resume && toPosition(position);
      }

      async function produce(): Promise<FormattedExecutionResult | undefined> {
        const first = state.stream ? undefined : await start();
        if (first) return first;
        const happening = await state.stream?.next();
        if (!happening || state.topic === undefined) return undefined;
        if (!happening.row) return resume ? toPosition(happening.position) : produce();
        const result = await toResult(operation, state.topic, happening);
        if (session.isOver()) return undefined;
        delivered.inc({ topic: state.topic });
        state.told++;
        return result;
      }

      const done = { done: true, value: undefined } as const;
      const end = () => {
        stop();
        return Promise.resolve(done);
      };
      // No async generator: its `return` would wait for the event that is being waited for.
      return {
        async next() {
          if (state.isDone) return done;
          if (state.told === resume?.first) return end();
          try {
            const value = await produce();
            if (value && !(state.isDone as boolean)) return { done: false, value };
          } catch (error) {
            stop();
            throw fails(error, session);
          }
          return end();
        },
        return: end,
        throw: end,
        [Symbol.asyncIterator]() {
          return this;
        },
        async [Symbol.asyncDispose]() {
          await end();
        },
      };
    },

    toFormatted: (errors, session) => finish(errors, session.createRequest()),
  };
}

/** How far a subscriber has come, without an event. */
function toPosition(position: number): FormattedExecutionResult {
  return { data: null, extensions: { position: String(position) } };
}

function toGraphqlError(error: unknown): GraphQLError {
  if (error instanceof GraphQLError) return error;
  const originalError = error instanceof Error ? error : new Error(String(error));
  return new GraphQLError(originalError.message, { originalError });
}
