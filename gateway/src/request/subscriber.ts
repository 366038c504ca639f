/** One client's end of a subscription, and what a response stream sends to it (GraphQL §6.2.3). Types only. */
import type { GraphQLFormattedError } from 'graphql';

/** Receives a response stream: `begin` before all else, then events in order, and nothing after `end`. Transports implement it. */
export interface Subscriber {
  /** Called before the subscription begins. Throws SERVICE_UNAVAILABLE when the transport has no room for its events. */
  requireRoom?(): void;
  /** Called once, before all else, when the subscription was accepted. */
  begin(subscription: Subscription): void;
  next(event: SubscriptionEvent): void;
  end(end: StreamEnd): void;
}

/** What a subscriber can do with its subscription. */
export interface Subscription {
  /** Ends the subscription at once: the subscriber receives nothing more. */
  stop(): void;
  /** Calls back after every event received before the call has been delivered. Later events are discarded. */
  finish(done: () => void): void;
  readonly operationName: string | undefined;
}

export interface SubscriptionEvent {
  /** One execution result as JSON. All subscribers share these bytes, which never change. */
  readonly bytes: Buffer;
  /** When the event arrived from its subgraph, by `performance.now()`. */
  readonly receivedAt: number;
  /** Where a client continues after this event; also in the bytes. Undefined unless the client asked for positions and the subgraph gives them. */
  readonly position?: string | undefined;
  /** Whether it has a position and no result. */
  readonly isPositionOnly?: true;
}

/** Why a stream ended: completed, refused by its subgraph, or ended by a failure or a change in between. */
export type EndCause = 'complete' | 'refused' | 'source-lost' | 'schema-reload' | 'overload' | 'unauthorized' | 'shutdown';

export interface StreamEnd {
  readonly cause: EndCause;
  /** Empty for a stream that completed. */
  readonly errors: readonly GraphQLFormattedError[];
}
