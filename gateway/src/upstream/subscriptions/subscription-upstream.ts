/** What a subscription of a subgraph is to the rest of the gateway, whichever protocol is below. Types only, and the limit of an event. */
import type { ReadTls } from '@trestle/http-client/upstream-client';
import type { RequestSigner } from '../signing/request-signer.ts';
import type { SubgraphError, SubgraphResult } from '../../program/result.ts';

/** The largest event that a subgraph may send. */
export const MAX_EVENT_BYTES = 32 * 1024 * 1024;

/**
 * How subgraphs send events: `ws` is graphql-transport-ws, `sse` is GraphQL over SSE with a request for each subscription, `callback` is Apollo's HTTP
 * callback protocol.
 */
export const SUBSCRIPTION_PROTOCOLS = ['ws', 'sse', 'callback'] as const;
export type SubscriptionProtocol = (typeof SUBSCRIPTION_PROTOCOLS)[number];

export interface SubscribeRequest {
  /** Headers, names and values in turn, that identify the caller; they are sent in `connection_init`, or as headers. */
  readonly identity: readonly string[];
  readonly requestId: string;
  readonly payload: SubscribePayload;
}

/** The subscriptions of one subgraph. */
export interface SubscriptionUpstream {
  readonly url: string;
  /** Returns a function that ends the subscription at the subgraph; the receiver is not called afterwards. */
  subscribe(request: SubscribeRequest, receiver: SourceReceiver): () => void;
}

export interface SubscribePayload {
  readonly query: string;
  readonly operationName: string | undefined;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly extensions: Readonly<Record<string, unknown>>;
}

/** Receives the source stream of one subscription in order. After one of the last three nothing follows. */
export interface SourceReceiver {
  /** `size` is about how many bytes the result had as text. */
  next(result: SubgraphResult & { readonly extensions?: Readonly<Record<string, unknown>> }, size: number): void;
  refused(errors: readonly SubgraphError[]): void;
  complete(): void;
  /** The connection was lost, or could not be opened. */
  lost(loss: ConnectionLoss): void;
}

export interface ConnectionLoss {
  /** Whether the subgraph rejected the credential: it will reject it again. */
  readonly isUnauthorized: boolean;
  /** Whether it would be the same again from the last position on: an event that is too large. Default false. */
  readonly isFinal?: boolean;
  /** For the log. */
  readonly cause: Error;
}

/** Where subscriptions of a subgraph are sent, and how. */
export interface SubscriptionAddress {
  readonly name: string;
  /** With http(s) or ws(s), or that of a Unix domain socket. */
  readonly url: string;
  readonly tls: ReadTls;
  /** What signs the requests that begin subscriptions, and handshakes of WebSockets; undefined for none. */
  readonly signer?: RequestSigner | undefined;
}

/** Subscriptions by one protocol. */
export interface SubscriptionPool {
  /** Returns the subscriptions of a subgraph. */
  open(address: SubscriptionAddress): SubscriptionUpstream;
  /** Closes all connections. Receivers are not called. */
  close(): void;
}
