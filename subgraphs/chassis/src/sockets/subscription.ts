/** The response stream of one subscription (GraphQL specification §6.2.3.2): a result for each event of its source stream. */
import { fail } from '@trestle/schema/errors';
import {
  type ExecutionArgs,
  type FormattedExecutionResult,
  type GraphQLError,
  type GraphQLFormattedError,
  createSourceEventStream,
  execute,
} from 'graphql';
import type { Counter, Gauge } from 'prom-client';
import { formatClientPosition } from '../events/source-streams/client-position.ts';
import type { LoadedEvent } from '../events/source-streams/dispatcher.ts';
import { EventSelection } from '../events/outbox/event-selection.ts';
import type { Events } from '../events/source-streams/events.ts';
import type { SourceStream } from '../events/source-streams/source-stream.ts';
import { finishResult } from '../graphql/result-limits.ts';
import type { RequestContext } from '../request/context.ts';
import type { Results, SocketOperation } from './operation.ts';
import type { Session } from './session.ts';

/** What all subscriptions of a process share. */
export interface SubscriptionOptions {
  readonly toArguments: (operation: SocketOperation) => ExecutionArgs;
  readonly createContext: (request: RequestContext) => RequestContext;
  readonly format: (errors: readonly GraphQLError[], request: RequestContext) => GraphQLFormattedError[];
  readonly toFailure: (error: unknown, session: Session) => Error;
  readonly events: Events;
  readonly open: Gauge<'topic'>;
  readonly delivered: Counter<'topic'>;
}

const DONE = { done: true, value: undefined } as const;

/** Creates the results of a subscription. It is no async generator, whose `return` would wait for the next event. */
export function createSubscription(operation: SocketOperation, options: SubscriptionOptions): Results {
  const subscription = new Subscription(operation, options);
  const end = () => {
    subscription.stop();
    return Promise.resolve(DONE);
  };
  return {
    async next() {
      const value = await subscription.next();
      return value ? { done: false, value } : end();
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
}

/** One subscription, from its start until it is stopped. */
class Subscription {
  readonly #operation: SocketOperation;
  readonly #options: SubscriptionOptions;
  #isStopped = false;
  #delivered = 0;
  #source: SourceStream | undefined;
  /** Set once the source stream has started. */
  #topic: string | undefined;

  constructor(operation: SocketOperation, options: SubscriptionOptions) {
    this.#operation = operation;
    this.#options = options;
  }

  /** Resolves with the next result, or with undefined after the end. Throws OperationFailure. */
  async next(): Promise<FormattedExecutionResult | undefined> {
    const { resume, session } = this.#operation;
    if (this.#isStopped || this.#delivered === resume?.first) return undefined;
    try {
      const result = await this.#produce();
      return (this.#isStopped as boolean) ? undefined : result;
    } catch (error) {
      this.stop();
      throw this.#options.toFailure(error, session);
    }
  }

  /** Ends the subscription at once, also while it waits. */
  stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#source?.stop();
    if (this.#topic !== undefined) this.#options.open.dec({ topic: this.#topic });
  }

  async #produce(): Promise<FormattedExecutionResult | undefined> {
    const { resume, session } = this.#operation;
    const first = this.#source ? undefined : await this.#start();
    if (first) return first;
    const event = await this.#source?.next();
    if (!event || this.#topic === undefined) return undefined;
    if (!event.row) return resume ? this.#toProgress(event.position) : this.#produce();
    const result = await this.#toResult(this.#topic, event);
    if (session.isInvalid()) return undefined;
    this.#options.delivered.inc({ topic: this.#topic });
    this.#delivered++;
    return result;
  }

  /** Starts the source stream. Returns the first result of a subscriber that wants positions: where the stream begins. */
  async #start(): Promise<FormattedExecutionResult | undefined> {
    const { resume } = this.#operation;
    const selection = await this.#select();
    if (this.#isStopped) return undefined;
    this.#source = this.#options.events.open(selection, resume?.after);
    const position = await this.#source.start();
    if (this.#isStopped as boolean) return undefined;
    this.#topic = selection.topic;
    this.#options.open.inc({ topic: selection.topic });
    return resume && this.#toProgress(position);
  }

  /** Resolves with the events that the resolver of the subscription selects. */
  async #select(): Promise<EventSelection> {
    const source = await createSourceEventStream(this.#options.toArguments(this.#operation));
    if (source instanceof EventSelection) return source;
    const [error] = 'errors' in source ? (source.errors ?? []) : [];
    // An error of graphql-js before any resolver was called is an error of the client: its variables.
    if (error && !error.originalError) throw fail('VALIDATION_ERROR', error.message);
    throw error ?? new Error('The resolver returned no event selection.');
  }

  /** Executes the operation for one event. Loaders and masks belong to this event alone. */
  async #toResult(topic: string, { row, ...event }: LoadedEvent): Promise<FormattedExecutionResult> {
    const { toArguments, createContext, format } = this.#options;
    const request = this.#operation.session.createRequest();
    const contextValue = createContext(request);
    const executed = await execute({ ...toArguments(this.#operation), contextValue, rootValue: { [topic]: row } });
    const { data, errors = [] } = finishResult(contextValue, executed);
    const formatted = format(errors, request);
    return {
      ...(formatted.length > 0 && { errors: formatted }),
      data: data ?? null,
      ...(this.#operation.resume && { extensions: { position: formatClientPosition(event) } }),
    };
  }

  /** Returns a result without an event: the position that the stream has reached. */
  async #toProgress(position: number): Promise<FormattedExecutionResult> {
    return { data: null, extensions: { position: (await this.#source?.format(position)) ?? String(position) } };
  }
}
